package safety

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestReplicasRemainingAfterARemoval(t *testing.T) {
	copies := func(storage, logs int) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			s.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = &storage
			s.Database.Status.Cluster.Logs[0].ReplicationFactor = &logs
		}
	}
	tests := map[string]struct {
		groups   []v1beta2.ProcessGroupID
		given    func(*plan.Snapshot)
		ok       bool
		evidence string
	}{
		"one of two of the data":       {[]v1beta2.ProcessGroupID{"storage-1"}, copies(2, 3), true, "2 replicas of the data now, 1 after the removal, 1 required"},
		"the only one of the data":     {[]v1beta2.ProcessGroupID{"storage-1"}, copies(1, 3), false, "1 replica of the data now, 0 after the removal, 1 required"},
		"the only one of the logs":     {[]v1beta2.ProcessGroupID{"log-1"}, copies(3, 1), false, "1 replica of the logs now, 0 after the removal, 1 required"},
		"the fewer of both are logs":   {[]v1beta2.ProcessGroupID{"storage-1", "log-1"}, copies(3, 2), true, "2 replicas of the logs now, 1 after the removal, 1 required"},
		"the fewer of both are data":   {[]v1beta2.ProcessGroupID{"storage-1", "log-1"}, copies(2, 3), true, "2 replicas of the data now, 1 after the removal, 1 required"},
		"equally many":                 {[]v1beta2.ProcessGroupID{"log-1", "storage-1"}, copies(2, 2), true, "2 replicas of the data now, 1 after the removal, 1 required"},
		"nothing is kept":              {[]v1beta2.ProcessGroupID{"stateless-1"}, copies(1, 1), true, "the process groups keep no data"},
		"nothing is taken":             {nil, copies(1, 1), true, "the process groups keep no data"},
		"a coordinator counts as logs": {[]v1beta2.ProcessGroupID{"coordinator-1"}, copies(3, 2), true, "2 replicas of the logs now, 1 after the removal, 1 required"},
		"the data is unknown": {
			[]v1beta2.ProcessGroupID{"storage-1", "log-1"},
			func(s *plan.Snapshot) { s.Database.Status.Cluster.Data = nil },
			false, "the number of replicas of the data is unknown",
		},
		"the logs are unknown": {
			[]v1beta2.ProcessGroupID{"storage-1", "log-1"},
			func(s *plan.Snapshot) { s.Database.Status.Cluster.Logs = nil },
			false, "the number of replicas of the logs is unknown",
		},
		"no answer": {[]v1beta2.ProcessGroupID{"storage-1"}, func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, false, "no database status: timed out"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := leavable(t)
			tc.given(&s)
			var groups []*v1beta2.ProcessGroupStatus
			for _, id := range tc.groups {
				groups = append(groups, s.Cluster.ProcessGroup(id))
			}
			if c := ReplicaRemains(s, groups); c.OK != tc.ok || c.Evidence != tc.evidence {
				t.Errorf("%t, %q; want %t, %q", c.OK, c.Evidence, tc.ok, tc.evidence)
			}
		})
	}
}
