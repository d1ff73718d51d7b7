package backup

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// SetBackupState returns a stage that sets spec.backupState; the stages of the backup's pass then
// carry that out.
func SetBackupState(state v1beta2.BackupState) plan.Stage {
	return setBackupState(state, func(v1beta2.BackupState) bool { return true })
}

// SetActiveBackupState does the same for a backup that is not stopped: a paused backup is started
// as well, so pausing or resuming a stopped one would begin another backup.
func SetActiveBackupState(state v1beta2.BackupState) plan.Stage {
	return setBackupState(state, func(now v1beta2.BackupState) bool { return now != v1beta2.BackupStateStopped })
}

func setBackupState(state v1beta2.BackupState, mayFollow func(v1beta2.BackupState) bool) plan.Stage {
	return plan.Stage{
		Name:  plan.StageSetBackupState,
		Reads: plan.Backup,
		Decide: func(s plan.Snapshot) plan.Decision {
			b := s.Backup
			switch {
			case b.DeletionTimestamp != nil:
				return held("the resource is being deleted")
			case !b.IsManaged():
				return held("spec.backupType is unmanaged: only the agents of this backup are reconciled")
			case !mayFollow(b.Spec.BackupState):
				return held("spec.backupState is Stopped: there is no backup to pause or resume; start begins another backup")
			case orRunning(b.Spec.BackupState) == state:
				return plan.Decision{}
			}
			return plan.Decision{Why: plan.RequestedByUser, Actions: []plan.Action{plan.SetBackupState{Backup: b.Name, State: state}}}
		},
	}
}

func held(reason string) plan.Decision {
	return plan.Decision{Hold: &plan.Hold{Code: plan.HoldBackupStateRefused, Reason: reason, Manual: true}}
}
