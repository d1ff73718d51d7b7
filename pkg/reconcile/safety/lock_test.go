package safety

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestWhetherTheLockIsFree(t *testing.T) {
	now := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		given    func(*plan.Snapshot)
		ok       bool
		gate     plan.Gate
		evidence string
		missing  time.Duration
	}{
		"no owner holds it":               {given: func(s *plan.Snapshot) { s.Coordination.Lock = nil }, ok: true, gate: plan.GateLock, evidence: "no other owner holds the lock"},
		"it ran out":                      {given: func(s *plan.Snapshot) { s.Coordination.Lock.End = now.Add(-time.Second) }, ok: true, gate: plan.GateLock, evidence: "no other owner holds the lock"},
		"it is ours":                      {given: func(s *plan.Snapshot) { s.Coordination.Lock.Owner = "east" }, ok: true, gate: plan.GateLock, evidence: "no other owner holds the lock"},
		"another holds it":                {given: func(*plan.Snapshot) {}, gate: plan.GateLock, evidence: "west holds the lock until 12:09:00 (9m0s more)", missing: 9 * time.Minute},
		"its holder is shut out":          {given: func(s *plan.Snapshot) { s.Coordination.DenyList = []string{"west"} }, ok: true, gate: plan.GateLock, evidence: "no other owner holds the lock"},
		"we are shut out":                 {given: func(s *plan.Snapshot) { s.Coordination.DenyList = []string{"east"} }, gate: plan.GateDeny, evidence: "east is on the deny list in the database"},
		"we have no name":                 {given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessGroupIDPrefix = "" }, gate: plan.GateLockOwner, evidence: "spec.processGroupIDPrefix is empty, so all control-plane instances without a prefix would share one lock"},
		"it could not be read":            {given: func(s *plan.Snapshot) { s.Coordination.Read = false }, gate: plan.GateLock, evidence: "the lock could not be read"},
		"the database does not exist yet": {given: func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }, ok: true, gate: plan.GateLock, evidence: "no lock is required"},
		"the spec disables locks":         {given: func(s *plan.Snapshot) { *s.Cluster.Spec.LockOptions.DisableLocks = true }, ok: true, gate: plan.GateLock, evidence: "no lock is required"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{}
			c.Spec.ProcessGroupIDPrefix, c.Spec.LockOptions.DisableLocks, c.Status.Configured = "east", new(bool), true
			s := plan.Snapshot{Now: now, Cluster: c, Coordination: plan.CoordinationFacts{
				Read: true, Lock: &fdb.Lock{Owner: "west", Start: now.Add(-time.Minute), End: now.Add(9 * time.Minute)},
			}}
			tc.given(&s)
			got, missing := LockFree(s)
			if got.OK != tc.ok || got.Gate != tc.gate || got.Evidence != tc.evidence || missing != tc.missing {
				t.Errorf("%+v, missing %s", got, missing)
			}
		})
	}
}

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
