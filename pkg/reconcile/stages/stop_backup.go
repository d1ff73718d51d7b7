package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// stopBackup ends a backup that should not run any more. It ends once the database calls it
// restorable: what was written so far stays of use. That is at once after a move, and the plan
// says that nothing can be restored from the new place then.
var stopBackup = managed(plan.StageStopBackup, func(s plan.Snapshot) plan.Decision {
	if !needsStop(s) {
		return plan.Decision{}
	}
	own := OwnBackup(s)
	if !own.OK {
		return notOurs(own)
	}
	if ending(s) {
		return plan.Wait(backupDelay, plan.HoldNotRestorableYet, "the backup ends once it is restorable")
	}
	return plan.Decision{
		Why: "it should not run any more", Checks: []plan.Check{own},
		Actions: []plan.Action{plan.StopBackup{Tag: string(s.Backup.Tag()), NotRestorable: restorable(s).Why}},
	}
})

func needsStop(s plan.Snapshot) bool { return !shouldRun(s) && isRunning(s) }

// ending reports whether the backup was told to end already. The tools refuse to be told
// twice. One snapshot ends by itself, and is not told to.
func ending(s plan.Snapshot) bool {
	stop := s.BackupStatus.Status.StopAfterSnapshot
	return stop != nil && *stop
}
