package safety

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// LockFree asks whether this instance could take the database's lock now. Who may have it
// is decided in one transaction when it is taken; until then this is a look only. Missing
// is for how long another holds it at most.
func LockFree(s plan.Snapshot) (c plan.Check, missing time.Duration) { return LockFreeFor(s, "") }

// LockFreeFor asks the same for a person who would keep the lock by hand; empty for the
// instance at its own work.
func LockFreeFor(s plan.Snapshot, person string) (c plan.Check, missing time.Duration) {
	c = plan.Check{ID: plan.CheckLockAllowed, Question: "may this instance take the database's lock?", Gate: plan.GateLock}
	switch {
	case !s.Cluster.LocksUsed() || !s.Cluster.Status.Configured:
		c.OK, c.Evidence = true, "none is needed"
		return c, 0
	case !s.Coordination.Read:
		c.Evidence = "who holds it could not be read"
		return c, 0
	}
	owner := s.Cluster.LockOwner()
	d := fdb.DecideLock(s.Coordination.Lock, s.Coordination.DenyList, fdb.LockRequest{Owner: owner, Person: person, Now: s.Now})
	switch d.Outcome {
	case fdb.LockNameless:
		c.Gate, c.Evidence = plan.GateLockOwner, "spec.processGroupIDPrefix is empty, so all instances without a prefix would share one lock"
	case fdb.LockDenied:
		c.Gate, c.Evidence = plan.GateDeny, fmt.Sprintf("%s is on the deny list in the database", owner)
	case fdb.LockHeld:
		missing = d.Holder.End.Sub(s.Now)
		c.Evidence = fmt.Sprintf("%s holds it until %s (%s more)", d.Holder.Holder(), d.Holder.End.UTC().Format(time.TimeOnly), missing.Round(time.Second))
	case fdb.LockTaken, fdb.LockExtended, fdb.LockTakenOver:
		c.OK, c.Evidence = true, "nobody else holds it"
	}
	return c, missing
}

// HeldByHand reports whether a person keeps the lock for this instance now.
func HeldByHand(s plan.Snapshot, person string) bool {
	l := s.Coordination.Lock
	return s.Coordination.Read && l != nil && l.Owner == s.Cluster.LockOwner() && l.Person() == person && !l.ExpiredAt(s.Now)
}
