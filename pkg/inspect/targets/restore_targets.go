package targets

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// RestoreAborted returns the progress of an abort; own is what the database reports of the
// restore, nil for nothing. The note also has the state of the database: whether it is still
// locked is read, and not assumed.
func RestoreAborted(s plan.Snapshot, own *fdb.RestoreStatus) inspect.Target {
	t := inspect.Target{ID: s.Restore.Name, Phase: "unknown"}
	switch {
	case s.RestoreStatus.Why() != "":
		t.Note = s.RestoreStatus.Why()
		return t
	case own == nil && s.Restore.Status.State == fdb.RestoreAborted:
		t.Phase, t.Reached, t.Note = fdb.RestoreAborted, true, "by the status; another restore has replaced it in the database's list"
		return t
	case own == nil:
		t.Note = "the database does not list it"
		return t
	}
	t.Phase, t.Reached = own.State, own.State == fdb.RestoreAborted
	if t.Reached {
		t.Note = inspect.LeftBehind(*own) + "; " + lockWords(s.Database, *own)
	}
	return t
}

// RestoreDone is the phase of a completed restore.
const RestoreDone = fdb.RestoreCompleted

// RestoreStarted returns the progress of a restore that is to run; own is what the database
// reports of it, nil for nothing.
func RestoreStarted(s plan.Snapshot, own *fdb.RestoreStatus) inspect.Target {
	t := RestoreCompleted(s, own)
	t.Reached = t.Reached || s.RestoreStatus.Why() == "" && own != nil && own.Active()
	return t
}

// RestoreCompleted returns the progress of a restore that is to complete.
func RestoreCompleted(s plan.Snapshot, own *fdb.RestoreStatus) inspect.Target {
	t := inspect.Target{ID: s.Restore.Name, Phase: "unknown"}
	switch {
	case s.RestoreStatus.Why() != "":
		t.Note = s.RestoreStatus.Why()
	case own == nil && s.Restore.Status.State == fdb.RestoreCompleted:
		t.Phase, t.Reached, t.Note = RestoreDone, true, "by the status"
	case own == nil:
		t.Phase, t.Note = "not-started", "the database does not list it"
	case own.State == fdb.RestoreCompleted:
		t.Phase, t.Reached, t.Note = RestoreDone, true, fmt.Sprintf("%s written, as of version %d", phrase.Bytes(own.BytesWritten), own.Version)
	case own.Active():
		t.Phase = own.State
		t.Note = fmt.Sprintf("%s, as of version %d; the database is locked until it completes", phrase.CountOf(own.BlocksDone, own.BlocksTotal, "block"), own.Version)
	default:
		t.Phase, t.Note = own.State, inspect.LeftBehind(*own)
	}
	return t
}

// lockWords returns whether the database is locked after the abort of a restore. A restore
// locks it under its own UID.
func lockWords(d plan.DatabaseFacts, own fdb.RestoreStatus) string {
	if d.Status == nil {
		return "cannot determine whether the database is still locked: " + d.Why()
	}
	switch locked, uid, known := d.Status.Locked(); {
	case !known:
		return "cannot determine whether the database is still locked: it does not report that"
	case !locked:
		return "the database is not locked: clients can read and write it"
	case uid == own.UID:
		return "the database is still locked by this restore"
	default:
		return "the database is still locked by " + phrase.Or(uid, "an unknown UID") + ", which is not this restore; find its owner before the lock is removed"
	}
}
