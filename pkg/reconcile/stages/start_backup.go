package stages

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// startBackup starts a backup that should run and does not. It decides on what the
// database says now, where the operator goes by what it saw when its pass began.
var startBackup = managed(plan.StageStartBackup, func(s plan.Snapshot) plan.Decision {
	if !needsStart(s) {
		return plan.Decision{}
	}
	switch {
	case isForeign(s) && isRunning(s):
		return notOurs(OwnBackup(s))
	case endsUnasked(s):
		return plan.Wait(backupDelay, plan.HoldBackupEnding, endsUnaskedWords)
	}
	start, version, err := backupStart(s.Backup)
	if err != nil {
		return contradiction(err)
	}
	free := nobodyElseRunsThere(s.OtherBackups, start.URL)
	if !free.OK {
		return notFree(free)
	}
	return plan.Decision{
		Why: fmt.Sprintf("spec.backupState is %s, and no backup runs on the tag", orRunning(s.Backup.Spec.BackupState)), Checks: []plan.Check{free},
		Actions: []plan.Action{plan.StartBackup{Start: start, Version: version}},
		Hold:    &plan.Hold{Code: plan.HoldNotRestorableYet, Reason: notRestorableYet, RetryAfter: backupDelay},
	}
})

const notRestorableYet = "the backup is not restorable before its first snapshot is written"

// needsStart is true as well while another's backup has the tag, or while the record's own
// is about to end: the next one waits.
func needsStart(s plan.Snapshot) bool {
	return shouldRun(s) && (!isRunning(s) || isForeign(s) || endsUnasked(s))
}

const endsUnaskedWords = "it was told to end once it is restorable, and cannot be told otherwise; another one begins once it has ended"

// endsUnasked reports whether a backup that is to go on was told to end, and will. One that
// is to be paused stands still, and ends only after that.
func endsUnasked(s plan.Snapshot) bool {
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

// backupStart is what the spec asks the tools for, and their version: that of the agents,
// in whose pods they run.
func backupStart(b *v1beta2.FoundationDBBackup) (start fdb.BackupStart, v fdb.Version, err error) {
	if v, err = fdb.ParseVersion(b.Spec.Version); err != nil {
		return start, v, fmt.Errorf("spec.version: %w", err)
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
