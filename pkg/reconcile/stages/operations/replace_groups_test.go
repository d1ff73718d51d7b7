package operations

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestReplaceGroups(t *testing.T) {
	two := Replacement{Groups: []v1beta2.ProcessGroupID{"storage-115", "storage-116"}, Max: 1}
	both, byZone := two, two
	both.Max, byZone.ByZone = 2, true
	tests := map[string]struct {
		stagestest.RemovalCase
		of Replacement
	}{
		"marks one at a time":                    {stagestest.RemovalCase{From: stagestest.HealthyCluster, Does: []string{"mark for removal: storage-115"}, Holds: "replacement of storage-116 waits until others are drained: 1 process group at once"}, two},
		"marks as many as may go":                {stagestest.RemovalCase{From: stagestest.HealthyCluster, Does: []string{"mark for removal: storage-115, storage-116"}}, both},
		"counts those that others want replaced": {stagestest.RemovalCase{From: stagestest.StorageMarkedForRemoval, Holds: "replacement of storage-115; storage-116 waits"}, two},
		"goes on once the others are drained": {stagestest.RemovalCase{From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
			stagestest.FirstOf(*s, v1beta2.ProcessClassStorage).SetExcluded(stagestest.Noon)
		}, Does: []string{"mark for removal: storage-115"}, Holds: "replacement of storage-116 waits"}, two},
		"marks all of one fault domain, by zone":             {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { stagestest.ShareZone(s, "storage-116", stagestest.NodeName(15)) }, Does: []string{"mark for removal: storage-115, storage-116"}}, byZone},
		"does nothing about those that are marked":           {stagestest.RemovalCase{From: stagestest.StorageMarkedForRemoval}, Replacement{Groups: []v1beta2.ProcessGroupID{"storage-114"}, Max: 1}},
		"does nothing about removed groups":                  {stagestest.RemovalCase{From: stagestest.HealthyCluster}, Replacement{Groups: []v1beta2.ProcessGroupID{"storage-1"}, Max: 1}},
		"marks none while the database does not answer":      {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"}, two},
		"marks none while a restore has the database locked": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, Holds: "locked with UID"}, two},
		"marks none that the spec keeps": {stagestest.RemovalCase{
			From: stagestest.HealthyCluster, Given: stagestest.Kept("storage-115"), Does: []string{"mark for removal: storage-116"}, Holds: "spec.cancelReplacementsForInstance keeps storage-115: remove it from the list first",
		}, two},
		"reports a kept group that is marked": {stagestest.RemovalCase{From: stagestest.StorageMarkedForRemoval, Given: stagestest.Kept("storage-114"), Holds: "spec.cancelReplacementsForInstance keeps storage-114"}, Replacement{Groups: []v1beta2.ProcessGroupID{"storage-114"}, Max: 1}},
		"needs a user for a group that cannot be excluded": {stagestest.RemovalCase{From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool)
			s.Cluster.ProcessGroup("storage-115").Addresses = nil
			one := 1
			s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &one
		}, Does: []string{"mark for removal: storage-116"}, Holds: "storage-115 never had an address to exclude"}, two},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, ReplaceGroups(tc.of)) })
	}
}

func TestReplaceUndoRevertsTheMarkForRemoval(t *testing.T) {
	const keep = "revert the mark for removal of storage-114"
	marked := func(s *plan.Snapshot) *v1beta2.ProcessGroupStatus { return s.Cluster.ProcessGroup("storage-114") }
	tests := map[string]stagestest.RemovalCase{
		"takes the mark back while nothing was moved away": {From: stagestest.StorageMarkedForRemoval, Does: []string{keep}},
		"has nothing to do without a mark":                 {From: stagestest.HealthyCluster},
		"not of a group that is excluded":                  {From: stagestest.DrainedStorage, Holds: "storage-114: it is excluded, and its data and roles are being moved"},
		"not of a group whose exclusion the status document does not show yet": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) { s.Coordination.Exclusions = []string{"locality_instance_id:storage-114"} }, Holds: "it is excluded",
		},
		"not of a group whose process reports that it is excluded": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) {
				yes := true
				stagestest.EditProcess(s, marked(s), func(p *fdb.Process) { p.Excluded = &yes })
			}, Holds: "it is excluded",
		},
		"not of a group that was drained":        {From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) { marked(s).SetExcluded(stagestest.Noon.Add(-time.Minute)) }, Holds: "it is already drained"},
		"not while exclusions are unknown":       {From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) { s.Coordination.ExclusionsRead = false }, Holds: "exclusions are unknown"},
		"not while the database does not answer": {From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, Holds: "timed out"},
		"not of a group that the spec lists": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{"storage-114"} },
			Holds: "the spec lists for removal: storage-114",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, KeepGroups([]v1beta2.ProcessGroupID{"storage-114", "storage-9"})) })
	}
}

func TestReplaceUndoWithIncludeRevertsExclusionAndMark(t *testing.T) {
	const include, keep = "include locality_instance_id:storage-114", "revert the mark for removal of storage-114"
	tests := map[string]stagestest.RemovalCase{
		"includes, and then takes the mark back": {From: stagestest.DrainedStorage, Does: []string{include, keep}},
		"takes a mark back where nothing moved":  {From: stagestest.StorageMarkedForRemoval, Does: []string{keep}},
		"has nothing to do without a mark":       {From: stagestest.HealthyCluster},
		"not of a group whose PVC is deleted": {
			From: stagestest.DrainedStorage, Given: func(s *plan.Snapshot) { delete(s.Volumes, "sample-storage-114-data") }, Holds: "storage-114 cannot be kept: its PVC is deleted",
		},
		"not of a group that the spec lists": {
			From: stagestest.StorageMarkedForRemoval, Given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{"storage-114"} },
			Holds: "storage-114 is in spec.processGroupsToRemove: remove it from there first",
		},
		"waits after a recovery": {From: stagestest.DrainedStorage, Given: stagestest.RecoveredAgo(599), Holds: "inclusion of storage-114 waits"},
		"withdraws its announcements first": {
			From: stagestest.InGlobalMode(stagestest.DrainedStorage), Given: stagestest.Listed("dc1", time.Hour, stagestest.Lists(fdb.ReadyForExclusion), "storage-114"),
			Does: []string{"withdraw: readyForExclusion storage-114", include, keep},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, KeepAndInclude([]v1beta2.ProcessGroupID{"storage-114", "storage-9"})) })
	}
}

// The list of the spec comes before whatever else a command waits for, and time does not resolve it.
func TestRequestsForKeptGroupsRequireManualIntervention(t *testing.T) {
	ids := []v1beta2.ProcessGroupID{"storage-115", "storage-116"}
	for name, stage := range map[string]plan.Stage{
		"replace": ReplaceGroups(Replacement{Groups: ids, Max: 1}), "skip the exclusion": SkipExclusion(ids), "exclude": ExcludeGroups(ids),
	} {
		s := stagestest.StorageMarkedForRemoval(t)
		stagestest.All(stagestest.Kept("storage-115"), stagestest.RecoveredAgo(1))(&s)
		h := stage.Decide(s).Hold
		if h == nil || !h.Manual || h.Code != plan.HoldKeptBySpec || h.Subjects[0] != "storage-115" {
			t.Errorf("%s: %+v", name, h)
		}
	}
}
