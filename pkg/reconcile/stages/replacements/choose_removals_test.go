package replacements

import (
	"maps"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestChooseRemovals(t *testing.T) {
	tests := map[string]stagestest.RemovalCase{
		"leaves a cluster alone that has what it wants": {From: stagestest.HealthyCluster},
		"marks what is too many": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 2 },
			Does: []string{"mark for removal: storage-116"},
		},
		"marks a group first that does not report": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				stagestest.DropProcess(s, s.Groups()[13])
			},
			Does: []string{"mark for removal: storage-114"},
		},
		"keeps those that are spread best": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				stagestest.EditProcess(s, s.Groups()[14], func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "node-14" })
			}, Does: []string{"mark for removal: storage-115"},
		},
		"marks no group of a class that does not shrink, reporting or not": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				stagestest.DropProcess(s, s.Groups()[0])
			},
			Does: []string{"mark for removal: storage-116"},
		},
		"does not count those that already leave": {From: stagestest.StorageMarkedForRemoval},
		"waits while too few report to choose from": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				stagestest.DropProcess(s, s.Groups()[13])
				stagestest.DropProcess(s, s.Groups()[14])
			}, Holds: "cannot choose which storage process groups stay",
		},
		"waits while the database is unavailable": {
			From: stagestest.HealthyCluster, Given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 2
				s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			}, Holds: "timed out",
		},
	}
	maps.Copy(tests, besideKept())
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, ChooseRemovals) })
	}
}

// besideKept are choices among the replacements of process groups that the spec keeps.
func besideKept() map[string]stagestest.RemovalCase {
	of := func(n int) func(testing.TB) plan.Snapshot {
		return func(tb testing.TB) plan.Snapshot { tb.Helper(); return stagestest.HealthyClusterOf(tb, n) }
	}
	wants := func(n int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = n }
	}
	created := func(id v1beta2.ProcessGroupID, ago time.Duration) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Volumes[s.Cluster.ProcessGroup(id).PVCName(s.Cluster)].CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(-ago))
		}
	}
	unseen := func(id v1beta2.ProcessGroupID) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			stagestest.DropProcess(s, s.Cluster.ProcessGroup(id))
			s.Cluster.ProcessGroup(id).FaultDomain = ""
		}
	}
	unresponsive := func(id v1beta2.ProcessGroupID) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { stagestest.DropProcess(s, s.Cluster.ProcessGroup(id)) }
	}
	given := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return stagestest.All(append([]func(*plan.Snapshot){wants(3)}, edits...)...)
	}
	kept, keptThree := stagestest.Kept("storage-117"), stagestest.Kept("storage-114", "storage-115", "storage-116")
	const (
		chosen   = "mark for removal: "
		contrary = "2 storage process groups desired by spec.processCounts or spec.databaseConfiguration, 3 kept by spec.cancelReplacementsForInstance"
	)
	return map[string]stagestest.RemovalCase{
		"never marks a kept group, not even one that does not report": {From: of(4), Given: given(kept, unresponsive("storage-117")), Does: []string{chosen + "storage-116"}},
		"marks all replacements":                            {From: of(6), Given: given(keptThree), Does: []string{chosen + "storage-117, storage-118, storage-119"}},
		"marks one first that never reported":               {From: of(4), Given: given(kept, unseen("storage-114"), created("storage-115", time.Minute)), Does: []string{chosen + "storage-114"}},
		"marks one that never reported before a silent one": {From: of(5), Given: given(kept, unseen("storage-114"), unresponsive("storage-115"), created("storage-115", time.Hour), created("storage-116", time.Hour)), Does: []string{chosen + "storage-114, storage-115"}},
		"marks the youngest of those that reported":         {From: of(4), Given: given(kept, created("storage-114", 3*time.Hour), created("storage-115", time.Hour), created("storage-116", 2*time.Hour)), Does: []string{chosen + "storage-115"}},
		"takes one without objects for the youngest": {From: of(4), Given: given(kept, created("storage-115", time.Minute), created("storage-116", time.Minute), func(s *plan.Snapshot) {
			delete(s.Pods, "sample-storage-114")
			delete(s.Volumes, "sample-storage-114-data")
		}), Does: []string{chosen + "storage-114"}},
		"spreads those of the same age beside the kept ones": {
			From: of(4), Given: given(kept, func(s *plan.Snapshot) {
				stagestest.EditProcess(s, s.Cluster.ProcessGroup("storage-114"), func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = stagestest.NodeName(17) })
			}), Does: []string{chosen + "storage-114"},
		},
		"marks what may leave where more are kept than desired": {From: of(4), Given: stagestest.All(wants(2), keptThree), Does: []string{chosen + "storage-117"}, Holds: contrary},
		"marks nothing where all are kept":                      {From: of(3), Given: stagestest.All(wants(2), keptThree), Holds: contrary},
		"marks others where another class is kept":              {From: of(4), Given: given(stagestest.Kept("log-101")), Does: []string{chosen + "storage-117"}},
		"is about groups that stay":                             {From: of(4), Given: given(kept, func(s *plan.Snapshot) { s.Cluster.ProcessGroup("storage-117").MarkForRemoval(stagestest.Noon) })},
	}
}

// Only a user can desire more groups, or keep fewer.
func TestMoreKeptThanDesiredGroupsRequireManualIntervention(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	s.Cluster.Spec.ProcessCounts.Storage = 2
	stagestest.Kept("storage-114", "storage-115", "storage-116")(&s)
	if h := ChooseRemovals.Decide(s).Hold; h == nil || !h.Manual || h.Code != plan.HoldSpecContradiction || len(h.Subjects) != 3 {
		t.Errorf("got %+v", h)
	}
}
