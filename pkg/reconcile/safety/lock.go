package safety

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// LockFree checks whether this control-plane instance could take the database's lock now. The
// lock is granted in one transaction when it is taken; this is only a preview. Missing is how
// long another holder keeps it at most.
func LockFree(s plan.Snapshot) (c plan.Check, missing time.Duration) { return LockFreeFor(s, "") }

// LockFreeFor is LockFree for a user who wants to hold the lock manually; empty for a pass of
// the control-plane instance.
func LockFreeFor(s plan.Snapshot, user string) (c plan.Check, missing time.Duration) {
	c = plan.Check{ID: plan.CheckLockAllowed, Question: "may this control-plane instance take the database's lock?", Gate: plan.GateLock}
	switch {
	case !s.Cluster.LocksUsed() || !s.Cluster.Status.Configured:
		c.OK, c.Evidence = true, "no lock is required"
		return c, 0
	case !s.Coordination.Read:
		c.Evidence = "the lock could not be read"
		return c, 0
	}
	owner := s.Cluster.LockOwner()
	d := fdb.DecideLock(s.Coordination.Lock, s.Coordination.DenyList, fdb.LockRequest{Owner: owner, User: user, Now: s.Now})
	switch d.Outcome {
	case fdb.LockNameless:
		c.Gate, c.Evidence = plan.GateLockOwner, "spec.processGroupIDPrefix is empty, so all control-plane instances without a prefix would share one lock"
	case fdb.LockDenied:
		c.Gate, c.Evidence = plan.GateDeny, fmt.Sprintf("%s is on the deny list in the database", owner)
	case fdb.LockHeld:
		missing = d.Holder.End.Sub(s.Now)
		c.Evidence = fmt.Sprintf("%s holds the lock until %s (%s more)", d.Holder.Holder(), d.Holder.End.UTC().Format(time.TimeOnly), missing.Round(time.Second))
	case fdb.LockTaken, fdb.LockExtended, fdb.LockTakenOver:
		c.OK, c.Evidence = true, "no other owner holds the lock"
	}
	return c, missing
}

// HeldManually reports whether a user holds the lock manually for this control-plane instance now.
func HeldManually(s plan.Snapshot, user string) bool {
	l := s.Coordination.Lock
	return s.Coordination.Read && l != nil && l.Owner == s.Cluster.LockOwner() && l.User() == user && !l.ExpiredAt(s.Now)
}
