package inspect

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// IsComplete reports whether a one-time backup has ended with a snapshot of its own.
func (f BackupFacts) IsComplete() bool {
	live := f.BackupStatus.Status
	return f.Backup.BackupMode() == v1beta2.BackupModeOneTime && f.Own.OK && !live.State.Running && f.Restorable().OK
}

// Restorable reports whether the backup can be restored from its destination.
func (f BackupFacts) Restorable() plan.Restorability {
	return plan.CanBeRestored(f.Backup, f.BackupStatus.Status)
}

// ForeignWords says that the backup on the tag belongs to another resource.
func (f BackupFacts) ForeignWords() string {
	return "the backup on tag " + f.BackupStatus.Status.Tag + " does not belong to this resource: " + f.Own.Evidence
}
