package targets

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// DenyListEntry returns the progress of adding a control-plane instance to the deny list in the
// database, or of removing it.
func DenyListEntry(f inspect.Facts, entry v1beta2.LockDenyListEntry) inspect.Target {
	t := inspect.Target{ID: entry.ID, Phase: "unknown", Note: "the deny list in the database could not be read"}
	if !f.Coordination.Read {
		return t
	}
	denied := slices.Contains(f.Coordination.DenyList, entry.ID)
	t.Phase, t.Note, t.Reached = "allowed", "", denied != entry.Allow
	if denied {
		t.Phase = "denied"
	}
	return t
}

// LockKept returns the progress of holding the lock manually.
func LockKept(f inspect.Facts, user string) inspect.Target {
	t := lockTarget(f)
	t.Reached = safety.HeldManually(f.Snapshot, user)
	return t
}

// LockFreed returns the progress of releasing the lock. A lock that another owner took
// meanwhile is not free.
func LockFreed(f inspect.Facts) inspect.Target {
	t := lockTarget(f)
	t.Reached = f.Coordination.Read && f.Coordination.Lock == nil
	return t
}

func lockTarget(f inspect.Facts) inspect.Target {
	t := inspect.Target{ID: "lock", Phase: "unknown", Note: "the lock in the database could not be read"}
	if !f.Coordination.Read {
		return t
	}
	v := f.Lock()
	t.Phase, t.Note = string(v.State), ""
	if l := f.Coordination.Lock; l != nil {
		t.Note = fmt.Sprintf("%s, until %s", l.Holder(), l.End.UTC().Format(time.RFC3339))
	}
	return t
}
