package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Restore lists the stages of a restore's pass in the order they run.
func Restore() []plan.Stage {
	return []plan.Stage{updateRestoreStatus, startRestore, updateRestoreStatus}
}

// restoreTag is the tag of all restores of this kind: the one of the tools themselves.
const restoreTag = "default"

// WasStarted reports whether the record says that its restore was started, whatever
// became of it.
func WasStarted(r *v1beta2.FoundationDBRestore) bool { return r.Status.Running || r.Status.State != "" }

// OwnRestore is the restore that the record started; nil when the database does not know
// of it. A finished restore stays listed, and another record may have started it: what it
// restored from, and as of which version, tells. One that goes on is not that of a record
// whose restore is over: nothing is started twice. One that is over is not that of a record
// that never saw its own: it may be an older one of the same place.
func OwnRestore(s plan.Snapshot) *fdb.RestoreStatus {
	if !WasStarted(s.Restore) {
		return nil
	}
	for i, r := range s.RestoreStatus.All {
		if mayHaveStarted(s.Restore, r) {
			return &s.RestoreStatus.All[i]
		}
	}
	return nil
}

// mayHaveStarted reports whether a restore is what a record asks for.
func mayHaveStarted(record *v1beta2.FoundationDBRestore, r fdb.RestoreStatus) bool {
	url, err := objects.RestoreURL(record)
	version := record.Spec.BackupVersion
	return err == nil && r.Tag == restoreTag && fdb.SameBackupURL(r.URL, url) &&
		(version == nil || uint64(r.Version) == *version) && //nolint:gosec // versions are not negative
		(!isOver(record) || !r.Active()) && (!isUnseen(record) || r.Active())
}

// isUnseen reports whether nobody saw the record's restore in the database: its start was
// noted and never confirmed, or the database did not know of it. No live restore is both
// queued and not running.
func isUnseen(record *v1beta2.FoundationDBRestore) bool {
	return record.Status == plan.RestoreNoted() || record.Status == v1beta2.FoundationDBRestoreStatus{State: v1beta2.RestoreStateUnknown}
}

// isOver reports whether the record says that its restore is over.
func isOver(record *v1beta2.FoundationDBRestore) bool {
	return record.Status.State == v1beta2.RestoreStateCompleted || record.Status.State == v1beta2.RestoreStateAborted
}
