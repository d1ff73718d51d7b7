package stages

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// toggleBackupPaused pauses the agents, or has them go on. This is one switch for all
// agents of a database, so the backups of one cluster have to agree about it: otherwise
// each pass would take back what the one before it did, and a backup that is to run would
// stand still. Agents go on for a backup that is to be stopped as well: restores need them.
var toggleBackupPaused = managed(plan.StageToggleBackupPaused, func(s plan.Snapshot) plan.Decision {
	if !needsToggle(s) {
		return plan.Decision{}
	}
	agreed := agreedToPause(s)
	if !agreed.OK {
		if s.OtherBackups.Read && s.Backup.Spec.BackupState == v1beta2.BackupStateStopped {
			return plan.Decision{} // it does not need the agents itself
		}
		return plan.Decision{Checks: []plan.Check{agreed}, Hold: &plan.Hold{Code: plan.HoldCheckRefused, Human: true, Reason: agreed.Words()}}
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

// agreedToPause asks whether no other backup of the cluster wants the agents otherwise.
func agreedToPause(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckBackupsAgree, Question: "do the other backups of cluster " + s.Backup.Spec.ClusterName + " agree? all of their agents pause or none", Gate: plan.GateBackup}
	if !s.OtherBackups.Read {
		c.Evidence = "nobody can tell: " + orNotAsked(s.OtherBackups.NotRead)
		return c
	}
	for i := range s.OtherBackups.All {
		if other := &s.OtherBackups.All[i]; wantsAgents(other, s.Backup.Spec.ClusterName) && other.ShouldBePaused() != s.Backup.ShouldBePaused() {
			c.Evidence = "FoundationDBBackup " + other.Name + " asks for " + string(orRunning(other.Spec.BackupState)) + "; give both the same spec.backupState"
			return c
		}
	}
	c.OK, c.Evidence = true, "none of this namespace wants otherwise; agents in other namespaces are not known"
	return c
}

// wantsAgents reports whether a record has an opinion on the agents of a cluster.
func wantsAgents(b *v1beta2.FoundationDBBackup, cluster string) bool {
	return b.Spec.ClusterName == cluster && b.IsManaged() && b.DeletionTimestamp == nil && b.Spec.BackupState != v1beta2.BackupStateStopped
}
