package stages

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// goneRecoveryAge is how long ago the last recovery has to be before a process that the
// database does not list is proven gone: after a recovery the processes register with the
// cluster controller again, and until all have, the list of a status document is short.
const goneRecoveryAge = time.Minute

// isHousekeeping reports whether a refused check of an inclusion only asks for more time since
// the last recovery, and the database is stable enough for the removed groups to be proven
// gone. Whatever else refuses is waited for.
func isHousekeeping(s plan.Snapshot, refused plan.Check) bool {
	return refused.Gate == plan.GateRecovery && safety.Available(s.Database).OK && !s.Database.Status.Incomplete() &&
		safety.Recovered(s.Database).OK && safety.RecoveredFor(s.Database, goneRecoveryAge).OK
}

// housekeepingOf is what a later pass does in place of an inclusion that is refused now.
func housekeepingOf(s plan.Snapshot, a plan.IncludeAndForget, refused plan.Check) *plan.Housekeeping {
	h := &plan.Housekeeping{Groups: a.Groups, Exclusions: a.Targets, Requires: []plan.Check{refused}}
	age, known := s.Database.Status.RecoveryAge()
	if left := minRecoveryAgeToInclude - age; known && left > 0 {
		h.RetryAfter, h.Due = left, s.Now.Add(left)
	}
	return h
}
