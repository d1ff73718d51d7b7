package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// toggleBackupPaused pauses the agents, or has them go on. This is one switch for all
// agents of a database: several backups of one cluster have to agree about it. Agents go
// on for a backup that is to be stopped as well: restores need them.
var toggleBackupPaused = managed("ToggleBackupPaused", func(s plan.Snapshot) plan.Decision {
	if !needsToggle(s) {
		return plan.Decision{}
	}
	d := plan.Decision{
		Why:     "spec.backupState is Paused",
		Actions: []plan.Action{plan.PauseAgents{Pause: s.Backup.ShouldBePaused(), Tag: string(s.Backup.Tag())}},
	}
	if !s.Backup.ShouldBePaused() {
		d.Why = "spec.backupState is " + string(orRunning(s.Backup.Spec.BackupState))
	}
	return d
})

func needsToggle(s plan.Snapshot) bool {
	return s.BackupStatus.Status.AgentsPaused != s.Backup.ShouldBePaused()
}
