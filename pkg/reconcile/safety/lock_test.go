package safety

import (
	"testing"
	"time"

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
