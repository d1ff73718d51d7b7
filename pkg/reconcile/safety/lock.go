package safety

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
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

// LockRights are exceptions from the rules about who may take the database's lock.
type LockRights struct {
	// AllowNameless allows a control-plane instance without a process group ID prefix to take it (G-LOCK-OWNER).
	AllowNameless bool
	// MendsDenyList is true where the pass first applies the deny list of the spec.
	MendsDenyList bool
}

// LockAllowedReads are the facets that LockAllowed reads besides the cluster: none where no lock
// is required, since reading them takes a transaction.
func LockAllowedReads(s plan.Snapshot) plan.Facet {
	if !s.Cluster.LocksUsed() || !s.Cluster.Status.Configured {
		return 0
	}
	return plan.Coordination
}

// LockAllowed checks what is decided without taking the lock: whether its owner has a name, and
// is not on the deny list. No checks are returned where no lock is required. A deny list that
// was not read refuses nothing here: it is read again in the transaction that takes the lock.
func LockAllowed(s plan.Snapshot, r LockRights) []plan.Check {
	if !s.Cluster.LocksUsed() || !s.Cluster.Status.Configured {
		return nil
	}
	owner := s.Cluster.LockOwner()
	named := plan.Check{ID: plan.CheckLockOwnerNamed, Question: "does the lock owner have a name?", Gate: plan.GateLockOwner, OK: true, Evidence: fmt.Sprintf("the lock owner is %q", owner)}
	switch {
	case owner == "" && r.AllowNameless:
		named.Evidence = "the lock owner has no name, and G-LOCK-OWNER is overridden"
	case owner == "":
		named.OK, named.Evidence = false, NamelessOwner
	}
	denied := plan.Check{ID: plan.CheckNotDenied, Question: "may this control-plane instance take the lock?", Gate: plan.GateDeny, OK: true, Evidence: fmt.Sprintf("%q is not on the deny list in the database", owner)}
	switch {
	case !s.Coordination.Read:
		denied.Evidence = "the deny list is read when the lock is taken"
	case !slices.Contains(s.Coordination.DenyList, owner):
	case r.MendsDenyList && allowsItself(s.Cluster):
		denied.Evidence = fmt.Sprintf("%q is on the deny list in the database, and the spec removes it", owner)
	default:
		denied.OK, denied.Evidence = false, fmt.Sprintf("%s is on the deny list in the database", owner)
	}
	return []plan.Check{named, denied}
}

// NamelessOwner is why a control-plane instance without a prefix cannot take the lock, and how to fix that.
const NamelessOwner = "spec.processGroupIDPrefix is empty, so all control-plane instances without a prefix would share one lock; set it (which replaces all process groups), " +
	"set spec.lockOptions.disableLocks where no other control-plane instance shares the database, or override G-LOCK-OWNER"

// allowsItself reports whether the spec of a control-plane instance removes it from the deny list.
func allowsItself(c *v1beta2.FoundationDBCluster) bool {
	return slices.ContainsFunc(c.Spec.LockOptions.DenyList, func(e v1beta2.LockDenyListEntry) bool { return e.ID == c.LockOwner() && e.Allow })
}
