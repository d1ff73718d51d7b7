package backup

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// modifyBackup changes the snapshot period or the destination of a running, continuous backup.
// Data that it wrote before stays where it is, and the new destination is restorable only after
// the next complete snapshot.
var modifyBackup = managed(plan.StageModifyBackup, func(s plan.Snapshot) plan.Decision {
	if !needsModification(s) {
		return plan.Decision{}
	}
	own := OwnBackup(s)
	if !own.OK {
		return foreignBackup(own)
	}
	start, _, err := backupStart(s.Backup)
	if err != nil {
		return readings.InvalidSpec(err)
	}
	change := fdb.BackupChange{Tag: start.Tag, Period: start.Period}
	var move *plan.BackupMove
	d := plan.Decision{Why: describeDifference(s), Checks: []plan.Check{own}}
	if !fdb.SameBackupURL(s.BackupStatus.Status.URL, start.URL) {
		change.URL, change.EncryptionKeyFile = start.URL, start.EncryptionKeyFile
		free := checkNoOtherBackupTo(s.OtherBackups, start.URL)
		if !free.OK {
			return destinationInUse(free)
		}
		d.Checks = append(d.Checks, free)
		d.Hold = &plan.Hold{Code: plan.HoldNotRestorableYet, Reason: movedWarning, RetryAfter: moveDelay}
		move = new(plan.MoveTo(s.Backup, s.BackupStatus.Status, start.URL))
	}
	d.Actions = []plan.Action{plan.ModifyBackup{Change: change, Move: move}}
	return d
})

// movedWarning is what the database does not report: after a move it still reports the newest
// restorable point of the former destination.
const movedWarning = "the new destination is not restorable until a complete snapshot that began after the move has ended, even if the database reports a restorable point"

// needsModification returns false while no agent has started the backup: the database does not
// report its period then.
func needsModification(s plan.Snapshot) bool {
	live, b := s.BackupStatus.Status, s.Backup
	if !shouldRun(s) || !isRunning(s) || b.BackupMode() != v1beta2.BackupModeContinuous {
		return false
	}
	if period, known := live.SnapshotPeriod(); known && period != b.SnapshotPeriod() {
		return true
	}
	return hasOtherDestination(s)
}

func hasOtherDestination(s plan.Snapshot) bool {
	desired, err := objects.BackupURL(s.Backup)
	return err == nil && !fdb.SameBackupURL(s.BackupStatus.Status.URL, desired)
}

// describeDifference returns what needs modification.
func describeDifference(s plan.Snapshot) string {
	if hasOtherDestination(s) {
		return "its destination differs from the spec"
	}
	return "its snapshot period differs from the spec"
}
