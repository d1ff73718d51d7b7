package backup

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Restore returns the stages of a restore's pass in the order they run.
func Restore() []plan.Stage {
	return []plan.Stage{updateRestoreStatus, startRestore, updateRestoreStatus}
}

// restoreTag is the tag of all restores of this kind: the default of the tools.
const restoreTag = "default"

// WasStarted reports whether the status of a resource records that its restore was started,
// whatever its state.
func WasStarted(r *v1beta2.FoundationDBRestore) bool { return r.Status.Running || r.Status.State != "" }

// OwnRestore returns the restore that the resource started; nil when the database does not list
// it. A finished restore stays listed, and another resource may have started it: its source and
// version identify it. A running one does not belong to a resource whose restore is over:
// nothing is started twice. One that is over does not belong to a resource whose restore was
// never observed: it may be an older one of the same destination.
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

// mayHaveStarted reports whether a restore matches the spec and status of a resource.
func mayHaveStarted(restore *v1beta2.FoundationDBRestore, r fdb.RestoreStatus) bool {
	url, err := objects.RestoreURL(restore)
	version := restore.Spec.BackupVersion
	return err == nil && r.Tag == restoreTag && fdb.SameBackupURL(r.URL, url) &&
		(version == nil || uint64(r.Version) == *version) && //nolint:gosec // versions are not negative
		(!isOver(restore) || !r.Active()) && (!isUnseen(restore) || r.Active())
}

// isUnseen reports whether the resource's restore was never observed in the database: its start
// was recorded and never confirmed, or the database did not list it. No live restore is both
// queued and not running.
func isUnseen(restore *v1beta2.FoundationDBRestore) bool {
	return restore.Status == plan.RestoreNoted() || restore.Status == v1beta2.FoundationDBRestoreStatus{State: v1beta2.RestoreStateUnknown}
}

// isOver reports whether the status of a resource records that its restore is over.
func isOver(restore *v1beta2.FoundationDBRestore) bool {
	return restore.Status.State == v1beta2.RestoreStateCompleted || restore.Status.State == v1beta2.RestoreStateAborted
}
