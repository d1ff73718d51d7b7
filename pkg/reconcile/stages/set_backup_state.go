package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// SetBackupState has a backup run, pause or be stopped; the stages of its pass then carry
// that out. With goesOn it is for a backup that is not stopped: a paused one is started as
// well, so to pause a stopped one, or to have it go on, would begin another backup.
func SetBackupState(state v1beta2.BackupState, goesOn bool) plan.Stage {
	return plan.Stage{
		Name:  plan.StageSetBackupState,
		Reads: plan.Backup,
		Decide: func(s plan.Snapshot) plan.Decision {
			b := s.Backup
			switch {
			case b.DeletionTimestamp != nil:
				return held("the record is being deleted")
			case !b.IsManaged():
				return held("spec.backupType is unmanaged: only its agents are looked after")
			case goesOn && b.Spec.BackupState == v1beta2.BackupStateStopped:
				return held("spec.backupState is Stopped, so there is nothing that could pause or go on; start begins another backup")
			case orRunning(b.Spec.BackupState) == state:
				return plan.Decision{}
			}
			return plan.Decision{Why: "a person asks for it", Actions: []plan.Action{plan.SetBackupState{Backup: b.Name, State: state}}}
		},
	}
}

func held(reason string) plan.Decision {
	return plan.Decision{Hold: &plan.Hold{Code: plan.HoldBackupStateRefused, Reason: reason, Human: true}}
}
