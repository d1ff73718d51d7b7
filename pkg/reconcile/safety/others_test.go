package safety

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestControlPlaneInstancesSynchronizeOnlyInGlobalMode(t *testing.T) {
	for mode, want := range map[v1beta2.SynchronizationMode]bool{v1beta2.SynchronizationModeGlobal: true, v1beta2.SynchronizationModeLocal: false} {
		c := &v1beta2.FoundationDBCluster{}
		c.Spec.AutomationOptions.SynchronizationMode, c.Status.Configured = &mode, true
		if got := ActsTogether(c); got != want {
			t.Errorf("%s: %t, want %t", mode, got, want)
		}
	}
}

func TestProcessGroupsOfOtherControlPlaneInstances(t *testing.T) {
	s := together()
	s.Cluster = &v1beta2.FoundationDBCluster{}
	s.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
	s.Cluster.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{{ProcessGroupID: "dc1-a"}, {ProcessGroupID: "dc1-c"}}
	s.Coordination.Lists.Addresses = map[fdb.Member][]string{ofDC2: {"10.2.0.1"}}
	ownByName := fdb.Member{Instance: "dc1", Group: "dc1-unknown"}
	ownByResource := fdb.Member{Instance: "dc3", Group: "dc1-c"}
	var got []v1beta2.ProcessGroupStatus
	for _, g := range Others(s, []fdb.Member{ofDC1, ownByName, ofDC2, ownByResource}) {
		got = append(got, *g)
	}
	if diff := cmp.Diff([]v1beta2.ProcessGroupStatus{{ProcessGroupID: "dc2-b", Addresses: []string{"10.2.0.1"}}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAtMostThreeMembersAreNamed(t *testing.T) {
	members := []fdb.Member{{Group: "a"}, {Group: "b"}, {Group: "c"}, {Group: "d"}, {Group: "e"}}
	for n, want := range map[int]string{1: "a", 3: "a, b, c", 4: "a, b, c, and 1 more", 5: "a, b, c, and 2 more"} {
		if got := someMembers(members[:n]); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestOnlyTheOwnUnexpiredManualLockCountsAsHeld(t *testing.T) {
	now := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		given func(*plan.Snapshot)
		want  bool
	}{
		"it is held":                {func(*plan.Snapshot) {}, true},
		"for another owner":         {func(s *plan.Snapshot) { s.Coordination.Lock.Owner = "west" }, false},
		"by another user":           {func(s *plan.Snapshot) { s.Coordination.Lock.Nonce = fdb.NonceByHand("bob@host", "x") }, false},
		"by the owner itself":       {func(s *plan.Snapshot) { s.Coordination.Lock.Nonce = "x" }, false},
		"it has ended":              {func(s *plan.Snapshot) { s.Coordination.Lock.End = now.Add(-time.Second) }, false},
		"there is none":             {func(s *plan.Snapshot) { s.Coordination.Lock = nil }, false},
		"the database was not read": {func(s *plan.Snapshot) { s.Coordination.Read = false }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{}
			c.Spec.ProcessGroupIDPrefix, c.Spec.LockOptions.DisableLocks, c.Status.Configured = "east", new(bool), true
			s := plan.Snapshot{Now: now, Cluster: c, Coordination: plan.CoordinationFacts{
				Read: true, Lock: &fdb.Lock{Owner: "east", Start: now.Add(-time.Minute), End: now.Add(time.Minute), Nonce: fdb.NonceByHand("ann@host", "x")},
			}}
			tc.given(&s)
			if got := HeldManually(s, "ann@host"); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}
