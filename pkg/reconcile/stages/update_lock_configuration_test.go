package stages

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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
	decides(t, updateLockConfiguration, map[string]decision{
		"does nothing without a list":            {given: denying([]string{"dc2"})},
		"shuts out who is on the list":           {given: denying(nil, deny), does: []string{"deny the lock to dc2"}},
		"lets in who may again":                  {given: denying([]string{"dc2"}, allow), does: []string{"allow it again to dc2"}},
		"does nothing when the list is in force": {given: denying([]string{"dc2"}, deny)},
		"leaves entries alone that the spec does not name": {
			given: denying([]string{"dc3"}, deny), does: []string{"deny the lock to dc2"},
		},
		"does both at once": {
			given: denying([]string{"dc2"}, allow, v1beta2.LockDenyListEntry{ID: "dc4"}, v1beta2.LockDenyListEntry{ID: "dc3"}, v1beta2.LockDenyListEntry{ID: "dc3"}),
			does:  []string{"deny the lock to dc3, dc4; allow it again to dc2"},
		},
		"waits while the shared state is unread": {
			given: combined(denying(nil, deny), func(s *plan.Snapshot) { s.Coordination = plan.CoordinationFacts{} }),
			holds: "could not be read",
		},
		"reports that a list without locks has no effect": {
			given: combined(denying(nil, deny), func(s *plan.Snapshot) { s.Cluster.Spec.LockOptions.DisableLocks = new(true) }),
			holds: "spec.lockOptions.denyList has no effect", human: true,
		},
		"has nothing to do before there is a database": {
			given: combined(denying(nil, deny), func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }),
		},
	})
}

func TestASpecThatDeniesTheOwnLockIsWarned(t *testing.T) {
	s := healthyCluster(t)
	denying(nil, v1beta2.LockDenyListEntry{ID: "dc1"})(&s)
	d := updateLockConfiguration.Decide(s)
	if told, is := d.Refused(); !is || told.Gate != plan.GateDeny || len(d.Actions) != 1 {
		t.Errorf("does %v with checks %v", described(d), d.Checks)
	}
}

func TestTheDenyListIsRecorded(t *testing.T) {
	deny := v1beta2.LockDenyListEntry{ID: "dc2"}
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  []string
		needs bool // generation NeedsLockConfigurationChanges
	}{
		"as it is in the database": {given: denying([]string{"dc3", "dc2"}, deny), want: []string{"dc2", "dc3"}},
		"with what is missing":     {given: denying([]string{"dc3"}, deny), want: []string{"dc3"}, needs: true},
		"not without one in the spec": {given: combined(denying([]string{"dc2"}), func(s *plan.Snapshot) {
			s.Cluster.Status.Locks.LockDenyList = []string{"dc2"}
		})},
		"as it was while it is unread": {given: combined(denying(nil, deny), func(s *plan.Snapshot) {
			s.Cluster.Status.Locks.LockDenyList = []string{"dc2"}
			s.Coordination = plan.CoordinationFacts{}
		}), want: []string{"dc2"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := healthyCluster(t)
			tc.given(&s)
			got, err := newStatus(s)
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
