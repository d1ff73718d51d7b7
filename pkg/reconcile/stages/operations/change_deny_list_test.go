package operations

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// lockedTogether returns a cluster of one of several control-plane instances; dc3 is on the deny list.
func lockedTogether(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := stagestest.HealthyCluster(tb)
	s.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
	s.Cluster.Spec.LockOptions.DisableLocks = new(bool)
	s.Coordination.Read, s.Coordination.DenyList = true, []string{"dc3"}
	return s
}

func TestChangeDenyList(t *testing.T) {
	tests := map[string]struct {
		stagestest.RemovalCase
		owner string
		deny  bool
	}{
		"denies the lock to a control-plane instance": {stagestest.RemovalCase{From: lockedTogether, Does: []string{"deny the lock to dc2"}}, "dc2", true},
		"allows it again":                                {stagestest.RemovalCase{From: lockedTogether, Does: []string{"allow the lock to dc3 again"}}, "dc3", false},
		"does nothing about who is denied":               {stagestest.RemovalCase{From: lockedTogether}, "dc3", true},
		"does nothing about who is allowed":              {stagestest.RemovalCase{From: lockedTogether}, "dc2", false},
		"not where no locks are used":                    {stagestest.RemovalCase{From: stagestest.HealthyCluster, Holds: "locks are not used here"}, "dc2", true},
		"waits while the list in the database is unread": {stagestest.RemovalCase{From: lockedTogether, Given: func(s *plan.Snapshot) { s.Coordination = plan.CoordinationFacts{} }, Holds: "could not be read"}, "dc2", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.Check(t, ChangeDenyList(v1beta2.LockDenyListEntry{ID: tc.owner, Allow: !tc.deny}, "me@here", "it is lost"))
		})
	}
}
