package ui

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ShutOut returns the progress of adding a control-plane instance to the deny list in the
// database, or of removing it.
func ShutOut(f Facts, owner string, deny bool) Target {
	t := Target{ID: owner, Phase: "unknown", Note: "the deny list in the database could not be read"}
	if !f.Coordination.Read {
		return t
	}
	denied := slices.Contains(f.Coordination.DenyList, owner)
	t.Phase, t.Note, t.Reached = "allowed", "", denied == deny
	if denied {
		t.Phase = "denied"
	}
	return t
}

// LockKept returns the progress of holding the lock manually.
func LockKept(f Facts, user string) Target {
	t := f.lockTarget()
	t.Reached = safety.HeldByHand(f.Snapshot, user)
	return t
}

// LockFreed returns the progress of releasing the lock. A lock that another owner took
// meanwhile is not free.
func LockFreed(f Facts) Target {
	t := f.lockTarget()
	t.Reached = f.Coordination.Read && f.Coordination.Lock == nil
	return t
}

func (f Facts) lockTarget() Target {
	t := Target{ID: "lock", Phase: "unknown", Note: "the lock in the database could not be read"}
	if !f.Coordination.Read {
		return t
	}
	v := f.lock()
	t.Phase, t.Note = string(v.State), ""
	if l := f.Coordination.Lock; l != nil {
		t.Note = fmt.Sprintf("%s, until %s", l.Holder(), l.End.UTC().Format(time.RFC3339))
	}
	return t
}
