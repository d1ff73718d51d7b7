package ui

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ShutOut is an instance that is to be on the deny list in the database, or not, as far as
// that is so.
func ShutOut(f Facts, instance string, deny bool) Target {
	t := Target{ID: instance, Phase: "unknown", Note: "the deny list in the database could not be read"}
	if !f.Coordination.Read {
		return t
	}
	denied := slices.Contains(f.Coordination.DenyList, instance)
	t.Phase, t.Note, t.Reached = "allowed", "", denied == deny
	if denied {
		t.Phase = "denied"
	}
	return t
}

// LockKept is the lock that a person is to keep for the instance, as far as that is so.
func LockKept(f Facts, person string) Target {
	t := f.lockTarget()
	t.Reached = safety.HeldByHand(f.Snapshot, person)
	return t
}

// LockFreed is the lock that is to be free. One that somebody else took meanwhile is not
// the one that was to be released.
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
