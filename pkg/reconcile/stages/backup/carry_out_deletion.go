package backup

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// carryOutDeletion keeps the finalizer that a deletion policy needs, and carries out the
// policy while the resource is being deleted: the backup is aborted, then with cleanup its
// data is deleted, then the finalizer is removed. While the database does not answer the
// resource stays: a backup may still run.
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
			return setFinalizer(plan.SetBackupFinalizer{Backup: b.Name}, "spec.deletionPolicy keeps the backup")
		case !kept && needed && b.DeletionTimestamp == nil:
			return setFinalizer(plan.SetBackupFinalizer{Backup: b.Name, Present: true}, "spec.deletionPolicy is "+string(b.DeletionPolicy()))
		case kept && b.DeletionTimestamp != nil:
			return finishDeletion(s)
		}
		return plan.Decision{}
	},
}

// usesMatter reports whether the users of stores have to be read: only before a backup's
// agents or data are deleted, since that takes a request for every tag.
func usesMatter(s plan.Snapshot) bool {
	kept := slices.Contains(s.Backup.Finalizers, v1beta2.FinalizerBackup)
	return kept && s.Backup.DeletionTimestamp != nil && s.BackupStatus.Why() == "" && !isRunning(s)
}

func setFinalizer(a plan.SetBackupFinalizer, why string) plan.Decision {
	return plan.Decision{Why: why, Actions: []plan.Action{a}}
}

func finishDeletion(s plan.Snapshot) plan.Decision {
	b := s.Backup
	if old := formerTag(b); old != "" { // the database was queried about the other tag
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldBackupDeletionBlocked, Manual: true, Reason: fmt.Sprintf(
			"spec.tag is %s, and this backup was last observed on tag %s, where it may still run; set spec.tag to %s to stop it and delete the resource", b.Tag(), old, old)}}
	}
	why := s.BackupStatus.Why()
	if why != "" && b.AgentCount() == 0 {
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldBackupDeletionBlocked, Manual: true, Reason: "the resource stays: cannot determine whether its backup runs, " +
			"since spec.agentCount is 0; set it to 1"}}
	}
	if why != "" {
		return plan.Wait(backupDelay, plan.HoldBackupStateUnknown, "the resource stays: cannot determine whether its backup runs: "+why)
	}
	if isRunning(s) {
		own := OwnBackup(s)
		if !own.OK {
			return foreignBackup(own)
		}
		return plan.Decision{
			Why: "the resource is being deleted, and spec.deletionPolicy is " + string(b.DeletionPolicy()), Checks: []plan.Check{own},
			Actions: []plan.Action{plan.StopBackup{Tag: string(b.Tag()), Abort: true}},
			Hold:    &plan.Hold{Code: plan.HoldBackupEnding, Reason: "the resource stays until its backup has ended", RetryAfter: backupDelay / 10},
		}
	}
	if c := checkRestoresKeepAgents(s); !c.OK {
		d := plan.Wait(backupDelay, plan.HoldCheckRefused, "the resource and its agents stay: "+c.Evidence)
		d.Checks = []plan.Check{c}
		return d
	}
	if b.DeletionPolicy() == v1beta2.BackupDeletionPolicyStop {
		return setFinalizer(plan.SetBackupFinalizer{Backup: b.Name}, "no backup runs on its tag")
	}
	return deleteData(s)
}

// checkRestoresKeepAgents checks whether every running restore still has agents without
// those of the resource: a restore without agents stops, with its database locked.
func checkRestoresKeepAgents(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckRestoresKeepAgents, Question: "does every running restore keep agents?", Gate: plan.GateRestore}
	if other, some := otherAgents(s); some {
		c.OK, c.Evidence = true, "FoundationDBBackup "+other+" of the same cluster has agents"
		return c
	}
	use := s.BackupUse
	switch {
	case !use.KnowsRestores():
		c.Evidence = "cannot determine whether a restore runs: " + orUnread(use.NotRead)
	case len(use.Restores) > 0:
		c.Evidence = fmt.Sprintf("the restore on tag %s is %s, and no other FoundationDBBackup of the cluster in this namespace is known to have agents; those of other namespaces are unknown", use.Restores[0].Tag, use.Restores[0].State)
	default:
		c.OK, c.Evidence = true, "no restore runs"
	}
	return c
}

// otherAgents returns the name of another resource of the namespace with agents for the same
// cluster, and whether there is one. Agents elsewhere are unknown, and so never count.
func otherAgents(s plan.Snapshot) (name string, some bool) {
	for i := range s.OtherBackups.All {
		b := &s.OtherBackups.All[i]
		if b.Spec.ClusterName == s.Backup.Spec.ClusterName && b.DeletionTimestamp == nil && b.Status.AgentCount > 0 && b.AgentCount() > 0 {
			return b.Name, true
		}
	}
	return "", false
}
