package stages

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestReplaceGroups(t *testing.T) {
	two := Replacement{Groups: []v1beta2.ProcessGroupID{"storage-115", "storage-116"}, Most: 1}
	both, byZone := two, two
	both.Most, byZone.ByZone = 2, true
	tests := map[string]struct {
		removalCase
		of Replacement
	}{
		"marks one at a time":                                {removalCase{from: healthyCluster, does: []string{"mark for removal: storage-115"}, holds: "replacement of storage-116 waits until others are drained: 1 process group at once"}, two},
		"marks as many as may go":                            {removalCase{from: healthyCluster, does: []string{"mark for removal: storage-115, storage-116"}}, both},
		"counts those that others want replaced":             {removalCase{from: leavingStorage, holds: "replacement of storage-115; storage-116 waits"}, two},
		"goes on once the others are drained":                {removalCase{from: leavingStorage, given: func(s *plan.Snapshot) { firstOf(*s, v1beta2.ProcessClassStorage).SetExcluded(noon) }, does: []string{"mark for removal: storage-115"}, holds: "replacement of storage-116 waits"}, two},
		"marks all of one fault domain, by zone":             {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) { shareZone(s, "storage-116", nodeName(15)) }, does: []string{"mark for removal: storage-115, storage-116"}}, byZone},
		"does nothing about those that are marked":           {removalCase{from: leavingStorage}, Replacement{Groups: []v1beta2.ProcessGroupID{"storage-114"}, Most: 1}},
		"does nothing about removed groups":                  {removalCase{from: healthyCluster}, Replacement{Groups: []v1beta2.ProcessGroupID{"storage-1"}, Most: 1}},
		"marks none while the database does not answer":      {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"}, two},
		"marks none while a restore has the database locked": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, holds: "locked with UID"}, two},
		"needs a user for a group that cannot be excluded": {removalCase{from: healthyCluster, given: func(s *plan.Snapshot) {
			s.Cluster.Spec.AutomationOptions.UseLocalitiesForExclusion = new(bool)
			s.Cluster.ProcessGroup("storage-115").Addresses = nil
			one := 1
			s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &one
		}, does: []string{"mark for removal: storage-116"}, holds: "storage-115 never had an address to exclude"}, two},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, ReplaceGroups(tc.of)) })
	}
}

// A group that stays must be on none of the shared lists: another control-plane instance would
// exclude it.
func TestWhatIsKeptIsWithdrawnAtOnce(t *testing.T) {
	list := Keeping([]v1beta2.ProcessGroupID{"storage-114"})
	if last := list[len(list)-1].Name; last != updateStatus.Name {
		t.Errorf("the last stage is %s", last)
	}
}

func TestKeepGroups(t *testing.T) {
	const keep = "revert the mark for removal of storage-114"
	marked := func(s *plan.Snapshot) *v1beta2.ProcessGroupStatus { return s.Cluster.ProcessGroup("storage-114") }
	tests := map[string]removalCase{
		"takes the mark back while nothing was moved away": {from: leavingStorage, does: []string{keep}},
		"has nothing to do without a mark":                 {from: healthyCluster},
		"not of a group that is excluded":                  {from: drainedStorage, holds: "storage-114: it is excluded, and its data and roles are being moved"},
		"not of a group whose exclusion the status document does not show yet": {
			from: leavingStorage, given: func(s *plan.Snapshot) { s.Coordination.Exclusions = []string{"locality_instance_id:storage-114"} }, holds: "it is excluded",
		},
		"not of a group whose process reports that it is excluded": {
			from: leavingStorage, given: func(s *plan.Snapshot) {
				yes := true
				editProcess(s, marked(s), func(p *fdb.Process) { p.Excluded = &yes })
			}, holds: "it is excluded",
		},
		"not of a group that was drained":        {from: leavingStorage, given: func(s *plan.Snapshot) { marked(s).SetExcluded(noon.Add(-time.Minute)) }, holds: "it is already drained"},
		"not while exclusions are unknown":       {from: leavingStorage, given: func(s *plan.Snapshot) { s.Coordination.ExclusionsRead = false }, holds: "exclusions are unknown"},
		"not while the database does not answer": {from: leavingStorage, given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "timed out"},
		"not of a group that the spec lists": {
			from: leavingStorage, given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{"storage-114"} },
			holds: "the spec lists for removal: storage-114",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, KeepGroups([]v1beta2.ProcessGroupID{"storage-114", "storage-9"})) })
	}
}
