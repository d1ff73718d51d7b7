package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// modifyBackup changes the snapshot period or the place of a running, continuous backup.
// What it wrote so far stays where it is, and the new place is restorable only after the
// next whole snapshot.
var modifyBackup = managed(plan.StageModifyBackup, func(s plan.Snapshot) plan.Decision {
	if !needsModification(s) {
		return plan.Decision{}
	}
	own := OwnBackup(s)
	if !own.OK {
		return notOurs(own)
	}
	start, _, err := backupStart(s.Backup)
	if err != nil {
		return contradiction(err)
	}
	change := fdb.BackupChange{Tag: start.Tag, Period: start.Period}
	var move *plan.BackupMove
	d := plan.Decision{Why: differsWords(s), Checks: []plan.Check{own}}
	if !fdb.SameBackupURL(s.BackupStatus.Status.URL, start.URL) {
		change.URL, change.EncryptionKeyFile = start.URL, start.EncryptionKeyFile
		free := nobodyElseRunsThere(s.OtherBackups, start.URL)
		if !free.OK {
			return notFree(free)
		}
		d.Checks = append(d.Checks, free)
		d.Hold = &plan.Hold{Code: plan.HoldNotRestorableYet, Reason: movedWords, RetryAfter: moveDelay}
		move = new(plan.MoveTo(s.Backup, s.BackupStatus.Status, start.URL))
	}
	d.Actions = []plan.Action{plan.ModifyBackup{Change: change, Move: move}}
	return d
})

// movedWords say what the database does not: after a move it goes on telling the newest
// restorable point of the former place.
const movedWords = "nothing can be restored from the new place before a whole snapshot is complete that began after the move, whatever the database says"

// needsModification is false while no agent has taken the backup up: the database does
// not tell its period then.
func needsModification(s plan.Snapshot) bool {
	live, b := s.BackupStatus.Status, s.Backup
	if !shouldRun(s) || !isRunning(s) || b.BackupMode() != v1beta2.BackupModeContinuous {
		return false
	}
	if period, told := live.SnapshotPeriod(); told && period != b.SnapshotPeriod() {
		return true
	}
	return goesElsewhere(s)
}

func goesElsewhere(s plan.Snapshot) bool {
	wanted, err := objects.BackupURL(s.Backup)
	return err == nil && !fdb.SameBackupURL(s.BackupStatus.Status.URL, wanted)
}

// differsWords say what needs modification.
func differsWords(s plan.Snapshot) string {
	if goesElsewhere(s) {
		return "it goes elsewhere than the spec says"
	}
	return "the snapshot period differs from the spec's"
}
