package stages

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// carryOutDeletion keeps the finalizer that a deletion policy needs, and carries the
// policy out once the record is being deleted: the backup is aborted, then with cleanup
// its data is deleted, then the record may go. While the database cannot be asked the
// record stays: a backup may still run.
var carryOutDeletion = plan.Stage{
	Name:    plan.StageCarryOutDeletion,
	Reads:   plan.Backup | plan.BackupStatus,
	More:    plan.BackupUse,
	Matters: usesMatter,
	Decide: func(s plan.Snapshot) plan.Decision {
		b := s.Backup
		kept := slices.Contains(b.Finalizers, v1beta2.FinalizerBackup)
		needed := b.IsManaged() && b.DeletionPolicy() != v1beta2.BackupDeletionPolicyNoop
		switch {
		case kept && !needed:
			return finalizer(b, false, "its deletion leaves the backup alone")
		case !kept && needed && b.DeletionTimestamp == nil:
			return finalizer(b, true, "spec.deletionPolicy is "+string(b.DeletionPolicy()))
		case kept && b.DeletionTimestamp != nil:
			return endAndForget(s)
		}
		return plan.Decision{}
	},
}

// usesMatter has the database asked who uses stores only where a backup is about to go with
// its agents or its data: that asks for every tag.
func usesMatter(s plan.Snapshot) bool {
	kept := slices.Contains(s.Backup.Finalizers, v1beta2.FinalizerBackup)
	return kept && s.Backup.DeletionTimestamp != nil && s.BackupStatus.Why() == "" && !isRunning(s)
}

func finalizer(b *v1beta2.FoundationDBBackup, present bool, why string) plan.Decision {
	return plan.Decision{Why: why, Actions: []plan.Action{plan.SetBackupFinalizer{Backup: b.Name, Present: present}}}
}

func endAndForget(s plan.Snapshot) plan.Decision {
	b := s.Backup
	if old := formerTag(b); old != "" { // what the database said is about the other one
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldBackupDeletionBlocked, Human: true, Reason: fmt.Sprintf(
			"spec.tag is %s, and this backup was last seen on tag %s, where it may still run; set spec.tag back to %s to have it ended and the record go", b.Tag(), old, old)}}
	}
	why := s.BackupStatus.Why()
	if why != "" && b.AgentCount() == 0 {
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldBackupDeletionBlocked, Human: true, Reason: "the record stays until it is known that its backup does not run, " +
			"and spec.agentCount is 0, so that nobody can be asked; set it to 1"}}
	}
	if why != "" {
		return plan.Wait(backupDelay, plan.HoldBackupStateUnknown, "the record stays until it is known that its backup does not run: "+why)
	}
	if isRunning(s) {
		own := OwnBackup(s)
		if !own.OK {
			return notOurs(own)
		}
		return plan.Decision{
			Why: "the record is being deleted, and spec.deletionPolicy is " + string(b.DeletionPolicy()), Checks: []plan.Check{own},
			Actions: []plan.Action{plan.StopBackup{Tag: string(b.Tag()), Abort: true}},
			Hold:    &plan.Hold{Code: plan.HoldBackupEnding, Reason: "the record stays until its backup has ended", RetryAfter: backupDelay / 10},
		}
	}
	if c := leavesAgents(s); !c.OK {
		d := plan.Wait(backupDelay, plan.HoldCheckRefused, "the record stays, and its agents with it: "+c.Words())
		d.Checks = []plan.Check{c}
		return d
	}
	if b.DeletionPolicy() == v1beta2.BackupDeletionPolicyStop {
		return finalizer(b, false, "no backup runs on its tag any more")
	}
	return deleteData(s)
}

// leavesAgents asks whether no restore is left without agents when those of the record go:
// agents restore as well, and without any a restore stands still with its database locked.
func leavesAgents(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckRestoresKeepAgents, Question: "does every restore that runs keep agents?", Gate: plan.GateRestore}
	if other, some := otherAgents(s); some {
		c.OK, c.Evidence = true, "FoundationDBBackup "+other+" of the same cluster has some"
		return c
	}
	use := s.BackupUse
	switch {
	case !use.KnowsRestores():
		c.Evidence = "nobody can tell whether one runs: " + orUnread(use.NotRead)
	case len(use.Restores) > 0:
		c.Evidence = fmt.Sprintf("the restore of tag %s is %s, and no other record of the cluster in this namespace is known to have agents; those of other namespaces are not known", use.Restores[0].Tag, use.Restores[0].State)
	default:
		c.OK, c.Evidence = true, "none runs"
	}
	return c
}

// otherAgents names another record of the namespace that keeps agents for the same cluster;
// false for none that is known. Agents elsewhere are not known, and so never count.
func otherAgents(s plan.Snapshot) (name string, some bool) {
	for i := range s.OtherBackups.All {
		b := &s.OtherBackups.All[i]
		if b.Spec.ClusterName == s.Backup.Spec.ClusterName && b.DeletionTimestamp == nil && b.Status.AgentCount > 0 && b.AgentCount() > 0 {
			return b.Name, true
		}
	}
	return "", false
}
