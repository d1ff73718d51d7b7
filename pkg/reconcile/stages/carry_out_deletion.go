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
	Name:  "CarryOutDeletion",
	Reads: plan.Backup | plan.BackupStatus,
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

func finalizer(b *v1beta2.FoundationDBBackup, present bool, why string) plan.Decision {
	return plan.Decision{Why: why, Actions: []plan.Action{plan.SetBackupFinalizer{Backup: b.Name, Present: present}}}
}

func endAndForget(s plan.Snapshot) plan.Decision {
	b := s.Backup
	if old := formerTag(b); old != "" { // what the database said is about the other one
		return plan.Decision{Hold: &plan.Hold{Human: true, Reason: fmt.Sprintf(
			"spec.tag is %s, and this backup was last seen on tag %s, where it may still run; set spec.tag back to %s to have it ended and the record go", b.Tag(), old, old)}}
	}
	why := s.BackupStatus.Why()
	if why != "" && b.AgentCount() == 0 {
		return plan.Decision{Hold: &plan.Hold{Human: true, Reason: "the record stays until it is known that its backup does not run, " +
			"and spec.agentCount is 0, so that nobody can be asked; set it to 1"}}
	}
	if why != "" {
		return plan.Wait(backupDelay, "the record stays until it is known that its backup does not run: "+why)
	}
	if isRunning(s) {
		own := OwnBackup(s)
		if !own.OK {
			return notOurs(own)
		}
		return plan.Decision{
			Why: "the record is being deleted, and spec.deletionPolicy is " + string(b.DeletionPolicy()), Checks: []plan.Check{own},
			Actions: []plan.Action{plan.StopBackup{Tag: string(b.Tag()), Abort: true}},
			Hold:    &plan.Hold{Reason: "the record stays until its backup has ended", RetryAfter: backupDelay / 10},
		}
	}
	if b.DeletionPolicy() == v1beta2.BackupDeletionPolicyStop {
		return finalizer(b, false, "no backup runs on its tag any more")
	}
	return deleteData(s)
}
