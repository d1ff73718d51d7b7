package cluster

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// minRecoveryAge is the minimum time since the last recovery before a process that the
// database does not list is proven to be removed: after a recovery the processes register with
// the cluster controller again, and until then the list of a status document is incomplete.
const minRecoveryAge = time.Minute

// IsHousekeeping reports whether a refused check of an inclusion only requires more time since
// the last recovery, and the database is stable enough to prove that the groups are removed.
// Any other refusal is waited for.
func IsHousekeeping(s plan.Snapshot, refused plan.Check) bool {
	return refused.Gate == plan.GateRecovery && safety.Available(s.Database).OK && !s.Database.Status.Incomplete() &&
		safety.Recovered(s.Database).OK && safety.RecoveredFor(s.Database, minRecoveryAge).OK
}

// HousekeepingOf returns what a later pass does instead of an inclusion that is refused now.
func HousekeepingOf(s plan.Snapshot, a plan.IncludeAndForget, refused plan.Check) *plan.Housekeeping {
	h := &plan.Housekeeping{Groups: a.Groups, Exclusions: a.Targets, Requires: []plan.Check{refused}}
	age, known := s.Database.Status.RecoveryAge()
	if left := MinRecoveryAgeToInclude - age; known && left > 0 {
		h.RetryAfter, h.Due = left, s.Now.Add(left)
	}
	return h
}
