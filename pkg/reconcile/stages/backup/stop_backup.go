package backup

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// stopBackup stops a backup that is not desired any more. It ends once the database reports it
// restorable, so that the data written so far stays usable. After a move that is immediate, and
// the plan warns that the new destination is not restorable then.
var stopBackup = managed(plan.StageStopBackup, func(s plan.Snapshot) plan.Decision {
	if !needsStop(s) {
		return plan.Decision{}
	}
	own := OwnBackup(s)
	if !own.OK {
		return foreignBackup(own)
	}
	if ending(s) {
		return plan.Wait(backupDelay, plan.HoldNotRestorableYet, "the backup ends once it is restorable")
	}
	return plan.Decision{
		Why: "the backup is not desired any more", Checks: []plan.Check{own},
		Actions: []plan.Action{plan.StopBackup{Tag: string(s.Backup.Tag()), NotRestorable: restorable(s).Why}},
	}
})

func needsStop(s plan.Snapshot) bool { return !shouldRun(s) && isRunning(s) }

// ending reports whether the backup was already stopped and ends after its snapshot. The tools
// refuse a second stop. A single snapshot ends without one.
func ending(s plan.Snapshot) bool {
	stop := s.BackupStatus.Status.StopAfterSnapshot
	return stop != nil && *stop
}
