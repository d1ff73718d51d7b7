package safety

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// LockRights are who may have the database's lock at all, whoever holds it now.
type LockRights struct {
	// AllowNameless lets an instance without a process group ID prefix have it (G-LOCK-OWNER).
	AllowNameless bool
	// MendsDenyList is true where the pass puts the spec's deny list into force first.
	MendsDenyList bool
}

// LockAllowedReads are the facets that LockAllowed looks at besides the record: none where no lock
// is needed, since it takes a transaction to read them.
func LockAllowedReads(s plan.Snapshot) plan.Facet {
	if !s.Cluster.LocksUsed() || !s.Cluster.Status.Configured {
		return 0
	}
	return plan.Coordination
}

// LockAllowed asks what nobody has to try the lock for: whether its owner has a name, and is not
// on the deny list. No checks are returned where no lock is needed. A deny list that was not
// read refuses nothing here: it is read again in the transaction that takes the lock.
func LockAllowed(s plan.Snapshot, r LockRights) []plan.Check {
	if !s.Cluster.LocksUsed() || !s.Cluster.Status.Configured {
		return nil
	}
	owner := s.Cluster.LockOwner()
	named := plan.Check{ID: plan.CheckLockOwnerNamed, Question: "does the lock's owner have a name?", Gate: plan.GateLockOwner, OK: true, Evidence: fmt.Sprintf("it is %q", owner)}
	switch {
	case owner == "" && r.AllowNameless:
		named.Evidence = "it has none, and G-LOCK-OWNER is overridden"
	case owner == "":
		named.OK, named.Evidence = false, NamelessOwner
	}
	denied := plan.Check{ID: plan.CheckNotDenied, Question: "may this instance take the lock?", Gate: plan.GateDeny, OK: true, Evidence: fmt.Sprintf("%q is not on the deny list in the database", owner)}
	switch {
	case !s.Coordination.Read:
		denied.Evidence = "the deny list is read when the lock is taken"
	case !slices.Contains(s.Coordination.DenyList, owner):
	case r.MendsDenyList && allowsItself(s.Cluster):
		denied.Evidence = fmt.Sprintf("%q is on the deny list in the database, and the spec takes it off", owner)
	default:
		denied.OK, denied.Evidence = false, fmt.Sprintf("%s is on the deny list in the database", owner)
	}
	return []plan.Check{named, denied}
}

// NamelessOwner is why an instance without a prefix gets no lock, and what helps.
const NamelessOwner = "spec.processGroupIDPrefix is empty, so all instances without a prefix would share one lock; set it (which replaces all process groups), " +
	"set spec.lockOptions.disableLocks where no other instance shares the database, or override G-LOCK-OWNER"

// allowsItself reports whether the spec of an instance takes it off the deny list.
func allowsItself(c *v1beta2.FoundationDBCluster) bool {
	return slices.ContainsFunc(c.Spec.LockOptions.DenyList, func(e v1beta2.LockDenyListEntry) bool { return e.ID == c.LockOwner() && e.Allow })
}
