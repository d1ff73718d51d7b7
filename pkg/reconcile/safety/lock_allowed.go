package safety

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
