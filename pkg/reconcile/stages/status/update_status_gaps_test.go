package status

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// Storage processes on another engine than the configured one are waited for only where the database
// itself changes all of them.
func TestStorageEngineMigrationIsAwaitedOnlyIfTheDatabaseDoesIt(t *testing.T) {
	tests := map[string]struct {
		set   func(*fdb.Configuration)
		waits string // empty where nothing is waited for
	}{
		"all at once":                         {func(c *fdb.Configuration) { c.StorageMigrationType = new("aggressive") }, "still use another engine"},
		"one after the other":                 {gradually(1), "still use another engine"},
		"one after the other, and none moves": {gradually(0), "moves none without perpetual_storage_wiggle=1"},
		"the database does not move them":     {func(c *fdb.Configuration) { c.StorageMigrationType = new("disabled") }, ""},
		"no migration is set":                 {func(*fdb.Configuration) {}, ""},
		"the wiggle is for one locality": {func(c *fdb.Configuration) {
			gradually(1)(c)
			c.PerpetualStorageWiggleLocality = new("instance_id:storage-1")
		}, ""},
		"the wiggle has an engine of its own": {func(c *fdb.Configuration) {
			gradually(1)(c)
			c.PerpetualStorageWiggleEngine = new("ssd-rocksdb-v1")
		}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := withEngine(stagestest.HealthyCluster(t), "ssd-2")
			s.Database.Status.Cluster.Configuration.StorageEngine = "ssd-redwood-1"
			tc.set(s.Database.Status.Cluster.Configuration)
			reasons := strings.Join(Gaps(s).Reasons, "; ")
			waits := strings.Contains(reasons, "another engine")
			if waits != (tc.waits != "") || !strings.Contains(reasons, tc.waits) {
				t.Errorf("want %q: %s", tc.waits, reasons)
			}
			s.Database.Status.Cluster.Configuration.StorageEngine = "ssd-2"
			if slices.ContainsFunc(Gaps(s).Reasons, func(why string) bool { return strings.Contains(why, "another engine") }) {
				t.Error("it waits although all servers run on the configured engine")
			}
		})
	}
}

// A gradual migration that a full disk stops is explained.
func TestAStorageMigrationPausedByLowDiskSpaceIsExplained(t *testing.T) {
	for name, tc := range map[string]struct {
		version          string
		available, total int64
		explained        bool
	}{
		"enough":                         {"7.3.79", 30, 100, false},
		"too little":                     {"7.3.79", 29, 100, true},
		"none":                           {"7.3.79", 0, 100, true},
		"it is unknown":                  {"7.3.79", 0, 0, false},
		"the first version that pauses":  {"7.3.60", 29, 100, true},
		"a version that does not pause":  {"7.3.59", 29, 100, false},
		"one of 7.1 that does not pause": {"7.1.67", 29, 100, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := withEngine(stagestest.HealthyCluster(t), "ssd-2")
			s.Database.Status.Cluster.Configuration.StorageEngine = "ssd-redwood-1"
			s.Cluster.Status.RunningVersion = tc.version
			gradually(1)(s.Database.Status.Cluster.Configuration)
			for _, p := range s.Database.Status.Cluster.Processes {
				for i := range p.Roles {
					p.Roles[i].KVStoreAvailableBytes, p.Roles[i].KVStoreTotalBytes = &tc.available, &tc.total
				}
			}
			reasons := strings.Join(Gaps(s).Reasons, "; ")
			if explained := strings.Contains(reasons, "less than 30% of its disk available: storage-"); explained != tc.explained {
				t.Errorf("explained: %t: %s", explained, reasons)
			}
		})
	}
}

// A cluster is not reconciled while the spec keeps a group that it also wants to be different.
func TestAClusterIsNotReconciledWhileAKeptGroupDiffers(t *testing.T) {
	const kept = v1beta2.ProcessGroupID("storage-114")
	differs := func(s *plan.Snapshot) {
		s.Volumes["sample-storage-114-data"].Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
	}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		gap   string
	}{
		"it matches the spec": {stagestest.Kept(kept), ""},
		"it differs":          {stagestest.All(stagestest.Kept(kept), differs), "process group storage-114 is kept by spec.cancelReplacementsForInstance: the spec of the PVC differs"},
		"it differs, and the spec does not keep it": {differs, ""},
		"the spec lists it for removal": {
			stagestest.All(stagestest.Kept(kept), func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{kept} }),
			"process group storage-114 is in spec.processGroupsToRemove and in spec.cancelReplacementsForInstance",
		},
		"more are kept than desired": {stagestest.All(stagestest.Kept(kept, "storage-115", "storage-116"), func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 2 }), "1 storage process group more than desired"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			gaps := Gaps(s)
			if gaps.Reconciled() != (tc.gap == "") || (tc.gap != "" && !slices.Contains(gaps.Reasons, tc.gap)) {
				t.Errorf("got %q, want %q", gaps.Reasons, tc.gap)
			}
		})
	}
}

func gradually(wiggle int) func(*fdb.Configuration) {
	return func(c *fdb.Configuration) {
		c.StorageMigrationType, c.PerpetualStorageWiggle = new("gradual"), new(wiggle)
	}
}

// withEngine sets and reports the engine of every storage process.
func withEngine(s plan.Snapshot, engine string) plan.Snapshot {
	for id, p := range s.Database.Status.Cluster.Processes {
		if v1beta2.ProcessClass(p.ClassType) == v1beta2.ProcessClassStorage {
			p.Roles = []fdb.Role{{Role: fdb.RoleStorage, StorageMetadata: &fdb.StorageMetadata{StorageEngine: engine}}}
			s.Database.Status.Cluster.Processes[id] = p
		}
	}
	return s
}
