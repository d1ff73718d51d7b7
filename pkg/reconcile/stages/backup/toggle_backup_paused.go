package backup

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// toggleBackupPaused pauses or resumes the agents. This is one switch for all agents of a
// database, so the backups of one cluster have to agree: otherwise each pass would revert the one
// before, and a desired backup would stop. Agents also run for a backup to be stopped: restores
// need them.
var toggleBackupPaused = managed(plan.StageToggleBackupPaused, func(s plan.Snapshot) plan.Decision {
	if !needsToggle(s) {
		return plan.Decision{}
	}
	agreed := agreedToPause(s)
	if !agreed.OK {
		if s.OtherBackups.Read && s.Backup.Spec.BackupState == v1beta2.BackupStateStopped {
			return plan.Decision{} // this backup does not need the agents
		}
		return plan.Decision{Checks: []plan.Check{agreed}, Hold: &plan.Hold{Code: plan.HoldCheckRefused, Manual: true, Reason: agreed.Evidence}}
	}
	d := plan.Decision{
		Checks:  []plan.Check{agreed},
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

// agreedToPause checks whether no other backup of the cluster desires another state of the agents.
func agreedToPause(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckBackupsAgree, Question: "do all backups of cluster " + s.Backup.Spec.ClusterName + " agree whether the agents pause?", Gate: plan.GateBackup}
	if !s.OtherBackups.Read {
		c.Evidence = "unknown: " + orNotRead(s.OtherBackups.NotRead)
		return c
	}
	for i := range s.OtherBackups.All {
		if other := &s.OtherBackups.All[i]; wantsAgents(other, s.Backup.Spec.ClusterName) && other.ShouldBePaused() != s.Backup.ShouldBePaused() {
			c.Evidence = "spec.backupState of FoundationDBBackup " + other.Name + " is " + string(orRunning(other.Spec.BackupState)) + "; set both to the same state"
			return c
		}
	}
	c.OK, c.Evidence = true, "no other of this namespace differs; agents in other namespaces are unknown"
	return c
}

// wantsAgents reports whether a resource has a desired state of the agents of a cluster.
func wantsAgents(b *v1beta2.FoundationDBBackup, cluster string) bool {
	return b.Spec.ClusterName == cluster && b.IsManaged() && b.DeletionTimestamp == nil && b.Spec.BackupState != v1beta2.BackupStateStopped && !cannotStart(b)
}
