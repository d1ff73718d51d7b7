package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

// denying returns a control-plane instance dc1 of several, whose spec has a deny list and whose
// database has another one.
func denying(inDatabase []string, inSpec ...v1beta2.LockDenyListEntry) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
		s.Cluster.Spec.LockOptions = v1beta2.LockOptions{DisableLocks: new(false), DenyList: inSpec}
		s.Coordination = plan.CoordinationFacts{Read: true, DenyList: inDatabase}
	}
}

func TestUpdateLockConfiguration(t *testing.T) {
	deny, allow := v1beta2.LockDenyListEntry{ID: "dc2"}, v1beta2.LockDenyListEntry{ID: "dc2", Allow: true}
	stagestest.Decides(t, UpdateLockConfiguration, map[string]stagestest.Decision{
		"does nothing without a list":            {Given: denying([]string{"dc2"})},
		"shuts out who is on the list":           {Given: denying(nil, deny), Does: []string{"deny the lock to dc2"}},
		"lets in who may again":                  {Given: denying([]string{"dc2"}, allow), Does: []string{"allow the lock to dc2 again"}},
		"does nothing when the list is in force": {Given: denying([]string{"dc2"}, deny)},
		"leaves entries alone that the spec does not name": {
			Given: denying([]string{"dc3"}, deny), Does: []string{"deny the lock to dc2"},
		},
		"does both at once": {
			Given: denying([]string{"dc2"}, allow, v1beta2.LockDenyListEntry{ID: "dc4"}, v1beta2.LockDenyListEntry{ID: "dc3"}, v1beta2.LockDenyListEntry{ID: "dc3"}),
			Does:  []string{"deny the lock to dc3, dc4; allow the lock to dc2 again"},
		},
		"waits while the shared state is unread": {
			Given: stagestest.Combined(denying(nil, deny), func(s *plan.Snapshot) { s.Coordination = plan.CoordinationFacts{} }),
			Holds: "could not be read",
		},
		"reports that a list without locks has no effect": {
			Given: stagestest.Combined(denying(nil, deny), func(s *plan.Snapshot) { s.Cluster.Spec.LockOptions.DisableLocks = new(true) }),
			Holds: "spec.lockOptions.denyList has no effect", Manual: true,
		},
		"is not blocked without locks by a list that allows only": {
			Given: stagestest.Combined(denying(nil, allow), func(s *plan.Snapshot) { s.Cluster.Spec.LockOptions.DisableLocks = new(true) }),
		},
		"reports one that denies besides": {
			Given: stagestest.Combined(denying(nil, allow, v1beta2.LockDenyListEntry{ID: "dc3"}), func(s *plan.Snapshot) { s.Cluster.Spec.LockOptions.DisableLocks = new(true) }),
			Holds: "spec.lockOptions.denyList has no effect", Manual: true,
		},
		"has nothing to do before there is a database": {
			Given: stagestest.Combined(denying(nil, deny), func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }),
		},
	})
}

func TestDenyingTheOwnControlPlaneInstanceIsReported(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	denying(nil, v1beta2.LockDenyListEntry{ID: "dc1"})(&s)
	d := UpdateLockConfiguration.Decide(s)
	if reported, is := d.Refused(); !is || reported.Gate != plan.GateDeny || len(d.Actions) != 1 {
		t.Errorf("does %v with checks %v", stagestest.Described(d), d.Checks)
	}
}

func TestTheDenyListIsWrittenToTheStatus(t *testing.T) {
	deny := v1beta2.LockDenyListEntry{ID: "dc2"}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  []string
		needs bool // generation NeedsLockConfigurationChanges
	}{
		"as it is in the database": {given: denying([]string{"dc3", "dc2"}, deny), want: []string{"dc2", "dc3"}},
		"with what is missing":     {given: denying([]string{"dc3"}, deny), want: []string{"dc3"}, needs: true},
		"not without one in the spec": {given: stagestest.Combined(denying([]string{"dc2"}), func(s *plan.Snapshot) {
			s.Cluster.Status.Locks.LockDenyList = []string{"dc2"}
		})},
		"as it was while it is unread": {given: stagestest.Combined(denying(nil, deny), func(s *plan.Snapshot) {
			s.Cluster.Status.Locks.LockDenyList = []string{"dc2"}
			s.Coordination = plan.CoordinationFacts{}
		}), want: []string{"dc2"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			tc.given(&s)
			got, err := status.NewStatus(s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Locks.LockDenyList); diff != "" {
				t.Errorf("deny list (-want +got):\n%s", diff)
			}
			if needs := got.Generations.NeedsLockConfigurationChanges != 0; needs != tc.needs {
				t.Errorf("changes needed: %t, want %t", needs, tc.needs)
			}
		})
	}
}
