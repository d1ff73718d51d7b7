package safety

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// TestTheLockIsRefusedToUnnamedAndDeniedOwners lists, per case, the gates that refuse the lock. Where no lock is
// needed, no check and no read of the lock is expected.
func TestTheLockIsRefusedToUnnamedAndDeniedOwners(t *testing.T) {
	nameless := func(s *plan.Snapshot, _ *LockRights) { s.Cluster.Spec.ProcessGroupIDPrefix = "" }
	denied := func(s *plan.Snapshot, _ *LockRights) { s.Coordination.DenyList = []string{"east"} }
	allows := func(id string, allow bool) func(*plan.Snapshot, *LockRights) {
		return func(s *plan.Snapshot, r *LockRights) {
			denied(s, r)
			r.MendsDenyList = true
			s.Cluster.Spec.LockOptions.DenyList = []v1beta2.LockDenyListEntry{{ID: id, Allow: allow}}
		}
	}
	tests := map[string]struct {
		given   func(*plan.Snapshot, *LockRights)
		none    bool
		refused []plan.Gate
		// mentions is a code that the evidence of a check contains.
		mentions plan.Gate
	}{
		"an owner with a name":                   {given: func(*plan.Snapshot, *LockRights) {}},
		"an owner without a name":                {given: nameless, refused: []plan.Gate{plan.GateLockOwner}, mentions: plan.GateLockOwner},
		"an overridden gate":                     {given: func(s *plan.Snapshot, r *LockRights) { nameless(s, r); r.AllowNameless = true }, mentions: plan.GateLockOwner},
		"an override that is not needed":         {given: func(_ *plan.Snapshot, r *LockRights) { r.AllowNameless = true }},
		"an owner on the deny list":              {given: denied, refused: []plan.Gate{plan.GateDeny}},
		"another owner on the deny list":         {given: func(s *plan.Snapshot, _ *LockRights) { s.Coordination.DenyList = []string{"west"} }},
		"a deny list that was not read":          {given: func(s *plan.Snapshot, r *LockRights) { denied(s, r); s.Coordination.Read = false }},
		"a spec that removes the owner":          {given: allows("east", true)},
		"a spec that denies the owner":           {given: allows("east", false), refused: []plan.Gate{plan.GateDeny}},
		"a spec that removes another owner":      {given: allows("west", true), refused: []plan.Gate{plan.GateDeny}},
		"a spec that is not put into force":      {given: func(s *plan.Snapshot, r *LockRights) { allows("east", true)(s, r); r.MendsDenyList = false }, refused: []plan.Gate{plan.GateDeny}},
		"a pass that changes another deny entry": {given: func(s *plan.Snapshot, r *LockRights) { denied(s, r); r.MendsDenyList = true }, refused: []plan.Gate{plan.GateDeny}},
		"both reasons": {given: func(s *plan.Snapshot, r *LockRights) {
			nameless(s, r)
			s.Coordination.DenyList = []string{""}
		}, refused: []plan.Gate{plan.GateLockOwner, plan.GateDeny}, mentions: plan.GateLockOwner},
		"a spec without locks":  {given: func(s *plan.Snapshot, r *LockRights) { nameless(s, r); *s.Cluster.Spec.LockOptions.DisableLocks = true }, none: true},
		"no configured cluster": {given: func(s *plan.Snapshot, r *LockRights) { nameless(s, r); s.Cluster.Status.Configured = false }, none: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{}
			c.Spec.ProcessGroupIDPrefix, c.Spec.LockOptions.DisableLocks, c.Status.Configured = "east", new(bool), true
			s, r := plan.Snapshot{Cluster: c, Coordination: plan.CoordinationFacts{Read: true}}, LockRights{}
			tc.given(&s, &r)
			checks := LockAllowed(s, r)
			if reads := LockAllowedReads(s); (reads == 0) != tc.none || (len(checks) == 0) != tc.none {
				t.Errorf("%d checks that read %v, none expected: %t", len(checks), reads, tc.none)
			}
			var refused []plan.Gate
			var evidence []string
			for _, check := range checks {
				evidence = append(evidence, check.Evidence)
				if !check.OK {
					refused = append(refused, check.Gate)
				}
			}
			if diff := cmp.Diff(tc.refused, refused); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			if got := strings.Contains(strings.Join(evidence, "\n"), string(plan.GateLockOwner)); got != (tc.mentions == plan.GateLockOwner) {
				t.Errorf("the evidence %q contains %s: %t", evidence, plan.GateLockOwner, got)
			}
		})
	}
}

// TestLockEvidenceDistinguishesAnUnreadDenyList compares evidence with that of an instance which is
// not on the deny list.
func TestLockEvidenceDistinguishesAnUnreadDenyList(t *testing.T) {
	evidence := func(given func(*plan.Snapshot)) string {
		c := &v1beta2.FoundationDBCluster{}
		c.Spec.ProcessGroupIDPrefix, c.Spec.LockOptions.DisableLocks, c.Status.Configured = "east", new(bool), true
		c.Spec.LockOptions.DenyList = []v1beta2.LockDenyListEntry{{ID: "east", Allow: true}}
		s := plan.Snapshot{Cluster: c, Coordination: plan.CoordinationFacts{Read: true}}
		given(&s)
		return LockAllowed(s, LockRights{MendsDenyList: true})[1].Evidence
	}
	absent := evidence(func(*plan.Snapshot) {})
	unread := evidence(func(s *plan.Snapshot) { s.Coordination.Read = false })
	removed := evidence(func(s *plan.Snapshot) { s.Coordination.DenyList = []string{"east"} })
	if absent == unread || absent == removed || unread == removed {
		t.Errorf("the same evidence for different facts: %q, %q, %q", absent, unread, removed)
	}
}
