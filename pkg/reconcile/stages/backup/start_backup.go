package backup

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// startBackup starts a backup that is desired to run and does not. It decides by the present
// state in the database, where the operator uses the state at the beginning of its pass.
var startBackup = managed(plan.StageStartBackup, func(s plan.Snapshot) plan.Decision {
	if !needsStart(s) {
		return plan.Decision{}
	}
	switch {
	case isForeign(s) && isRunning(s):
		return foreignBackup(OwnBackup(s))
	case endsUnrequested(s):
		return plan.Wait(backupDelay, plan.HoldBackupEnding, endsUnrequestedReason)
	}
	start, version, err := backupStart(s.Backup)
	if err != nil {
		return readings.InvalidSpec(err)
	}
	free := checkNoOtherBackupTo(s.OtherBackups, start.URL)
	if !free.OK {
		return destinationInUse(free)
	}
	return plan.Decision{
		Why: fmt.Sprintf("spec.backupState is %s, and no backup runs on the tag", orRunning(s.Backup.Spec.BackupState)), Checks: []plan.Check{free},
		Actions: []plan.Action{plan.StartBackup{Start: start, Version: version}},
		Hold:    &plan.Hold{Code: plan.HoldNotRestorableYet, Reason: notRestorableYet, RetryAfter: backupDelay},
	}
})

const notRestorableYet = "the backup is not restorable before its first snapshot is written"

// needsStart returns true also while a foreign backup has the tag, or while the resource's own one
// is about to end: the next one waits.
func needsStart(s plan.Snapshot) bool {
	return shouldRun(s) && (!isRunning(s) || isForeign(s) || endsUnrequested(s))
}

const endsUnrequestedReason = "the backup ends once it is restorable, which cannot be reverted; another one starts after that"

// endsUnrequested reports whether a backup that is desired to run ends soon. A paused one makes no
// progress, and ends only after that.
func endsUnrequested(s plan.Snapshot) bool {
	b := s.Backup
	continuous := b.BackupMode() == v1beta2.BackupModeContinuous
	return continuous && shouldRun(s) && !b.ShouldBePaused() && isRunning(s) && ending(s)
}

func orRunning(state v1beta2.BackupState) v1beta2.BackupState {
	if state == "" {
		return v1beta2.BackupStateRunning
	}
	return state
}

// backupStart returns the arguments of the tools for the spec, and their version: that of the
// agents, in whose pods they run.
func backupStart(b *v1beta2.FoundationDBBackup) (start fdb.BackupStart, v fdb.Version, err error) {
	if v, err = fdb.ParseVersion(b.Spec.Version); err != nil {
		return start, v, fmt.Errorf("parse spec.version: %w", err)
	}
	start = fdb.BackupStart{
		Tag: string(b.Tag()), Continuous: b.BackupMode() == v1beta2.BackupModeContinuous, Period: b.SnapshotPeriod(),
		PartitionedLog: b.BackupType() == v1beta2.BackupTypePartitionedLog,
	}
	if start.URL, err = objects.BackupURL(b); err != nil {
		return start, v, err
	}
	start.EncryptionKeyFile, err = encryptionKey(b.Spec.EncryptionKeyPath, v)
	return start, v, err
}
