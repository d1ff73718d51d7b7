package stages

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// lockedTogether returns a cluster of one of several control-plane instances; dc3 is on the deny list.
func lockedTogether(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := healthyCluster(tb)
	s.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
	s.Cluster.Spec.LockOptions.DisableLocks = new(bool)
	s.Coordination.Read, s.Coordination.DenyList = true, []string{"dc3"}
	return s
}

func TestShutOut(t *testing.T) {
	tests := map[string]struct {
		removalCase
		owner string
		deny  bool
	}{
		"denies the lock to a control-plane instance": {removalCase{from: lockedTogether, does: []string{"deny the lock to dc2"}}, "dc2", true},
		"allows it again":                                {removalCase{from: lockedTogether, does: []string{"allow it again to dc3"}}, "dc3", false},
		"does nothing about who is denied":               {removalCase{from: lockedTogether}, "dc3", true},
		"does nothing about who is allowed":              {removalCase{from: lockedTogether}, "dc2", false},
		"not where no locks are used":                    {removalCase{from: healthyCluster, holds: "locks are not used here"}, "dc2", true},
		"waits while the list in the database is unread": {removalCase{from: lockedTogether, given: func(s *plan.Snapshot) { s.Coordination = plan.CoordinationFacts{} }, holds: "could not be read"}, "dc2", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.check(t, ShutOut(tc.owner, tc.deny, "me@here", "it is lost")) })
	}
}

func TestAUserWhoDeniesTheOwnLockIsWarned(t *testing.T) {
	d := ShutOut("dc1", true, "me@here", "").Decide(lockedTogether(t))
	if len(d.Checks) != 1 || d.Checks[0].OK || strings.Contains(d.Checks[0].Evidence, "spec") {
		t.Errorf("checks: %v", d.Checks)
	}
}
