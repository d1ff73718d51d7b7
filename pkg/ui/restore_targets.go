package ui

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// RestoreAborted is a restore that is to be aborted, as far as it is; own is what the
// database knows of it, nil for nothing. It also says what became of the database: whether
// it is locked is asked, and not taken for granted.
func RestoreAborted(s plan.Snapshot, own *fdb.RestoreStatus) Target {
	t := Target{ID: s.Restore.Name, Phase: "unknown"}
	switch {
	case s.RestoreStatus.Why() != "":
		t.Note = s.RestoreStatus.Why()
		return t
	case own == nil && s.Restore.Status.State == fdb.RestoreAborted:
		t.Phase, t.Reached, t.Note = fdb.RestoreAborted, true, "as was recorded; another restore has taken its place in the database's list"
		return t
	case own == nil:
		t.Note = "the database does not know of it"
		return t
	}
	t.Phase, t.Reached = own.State, own.State == fdb.RestoreAborted
	if t.Reached {
		t.Note = leftBehind(*own) + "; " + lockWords(s.Database, *own)
	}
	return t
}

// RestoreDone is the phase of a restore that is done.
const RestoreDone = fdb.RestoreCompleted

// RestoreStarted is a restore that is to run, or to be done, as far as it is; own is what the
// database knows of it, nil for nothing.
func RestoreStarted(s plan.Snapshot, own *fdb.RestoreStatus, done bool) Target {
	t := Target{ID: s.Restore.Name, Phase: "unknown"}
	switch {
	case s.RestoreStatus.Why() != "":
		t.Note = s.RestoreStatus.Why()
	case own == nil && s.Restore.Status.State == fdb.RestoreCompleted:
		t.Phase, t.Reached, t.Note = RestoreDone, true, "as was recorded"
	case own == nil:
		t.Phase, t.Note = "not-started", "the database does not know of it"
	case own.State == fdb.RestoreCompleted:
		t.Phase, t.Reached, t.Note = RestoreDone, true, fmt.Sprintf("%s written, as of version %d", phrase.Bytes(own.BytesWritten), own.Version)
	case own.Active():
		t.Phase, t.Reached = own.State, !done
		t.Note = fmt.Sprintf("%s, as of version %d, and the database is locked until it is done", phrase.CountOf(own.BlocksDone, own.BlocksTotal, "block"), own.Version)
	default:
		t.Phase, t.Note = own.State, leftBehind(*own)
	}
	return t
}

// leftBehind is what an aborted restore leaves in the database, as far as it tells.
func leftBehind(r fdb.RestoreStatus) string {
	if r.BytesWritten == 0 {
		return "the restore had not reported any data as written"
	}
	return fmt.Sprintf("a part of the data is in the database: %s, %s", phrase.Bytes(r.BytesWritten), phrase.CountOf(r.BlocksDone, r.BlocksTotal, "block"))
}

// lockWords say whether the database is locked after the abort of a restore. A restore locks
// it under its own UID.
func lockWords(d plan.DatabaseFacts, own fdb.RestoreStatus) string {
	if d.Status == nil {
		return "whether the database is still locked nobody can tell: " + d.Why()
	}
	switch locked, uid, known := d.Status.Locked(); {
	case !known:
		return "whether it is still locked, the database does not tell"
	case !locked:
		return "the database is not locked: clients read and write it as it is"
	case uid == own.UID:
		return "the database is still locked, by this very restore"
	default:
		return "the database is still locked, by " + phrase.Or(uid, "somebody unknown") + ", which is not this restore; find out whose lock that is before anybody takes it off"
	}
}
