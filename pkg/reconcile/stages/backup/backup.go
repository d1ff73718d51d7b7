package backup

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/evictions"
)

// Backup returns the stages of a backup's pass in the order they run. The status is updated
// first, since it is useful whatever the other stages wait for, and again at the end.
func Backup() []plan.Stage {
	return []plan.Stage{
		carryOutDeletion,
		updateBackupStatus,
		updateBackupAgents,
		startBackup,
		stopBackup,
		toggleBackupPaused,
		modifyBackup,
		evictions.UpdateAgentTolerations,
		updateBackupStatus,
	}
}

// backupDelay is the minimum time that agents need to start, and a backup to become
// restorable.
const backupDelay = 10 * time.Second

// moveDelay is how long to wait before a moved backup is read again: snapshots take hours
// or days.
const moveDelay = time.Minute

// managed returns a stage for managed backups. It needs the database's answer: without one
// the state is unknown, and nothing is done. Resources that are being deleted are left to
// carryOutDeletion.
func managed(name plan.StageName, decide func(plan.Snapshot) plan.Decision) plan.Stage {
	return plan.Stage{
		Name:  name,
		Reads: plan.Backup | plan.BackupStatus,
		Decide: func(s plan.Snapshot) plan.Decision {
			if !s.Backup.IsManaged() || s.Backup.DeletionTimestamp != nil {
				return plan.Decision{}
			}
			if why := s.BackupStatus.Why(); why != "" {
				return plan.Wait(backupDelay, plan.HoldBackupStateUnknown, "cannot determine whether the backup runs: "+why)
			}
			return decide(s)
		},
	}
}

// shouldRun reports whether the backup is desired to run: not if the spec stops it, or if it
// is a one-time backup that is already restorable. The state in the database counts, not only
// the status of the resource. A foreign snapshot on the tag does not count.
func shouldRun(s plan.Snapshot) bool {
	b := s.Backup
	if b.BackupMode() == v1beta2.BackupModeOneTime && restorable(s).OK && !isForeign(s) {
		return false
	}
	return b.ShouldRun()
}

// restorable returns whether the backup can be restored from its destination.
func restorable(s plan.Snapshot) plan.Restorability {
	return plan.CanBeRestored(s.Backup, s.BackupStatus.Status)
}

func isRunning(s plan.Snapshot) bool { return s.BackupStatus.Status.State.Running }

// OwnBackup checks whether the backup that the database lists on the tag belongs to this
// resource. Otherwise two resources with one tag would stop or move each other's backup, or
// one that a user started manually.
func OwnBackup(s plan.Snapshot) plan.Check {
	live := s.BackupStatus.Status
	c := plan.Check{ID: plan.CheckOwnBackup, Subject: live.Tag, Question: "does the backup on tag " + live.Tag + " belong to this resource?", Gate: plan.GateBackup}
	c.Evidence = "its destination is " + fdb.WithoutSecrets(live.URL)
	c.OK = hasOwnDestination(s.Backup, live.URL)
	if !c.OK {
		c.Evidence += ", which is neither in the spec nor in the status of this resource"
	}
	return c
}

// hasOwnDestination reports whether a URL is the destination in the spec, or the one where
// the resource's own backup was last observed.
func hasOwnDestination(b *v1beta2.FoundationDBBackup, url string) bool {
	if desired, err := objects.BackupURL(b); err == nil && fdb.SameBackupURL(url, desired) {
		return true
	}
	seen := b.Status.BackupDetails
	return seen != nil && seen.URL != "" && fdb.SameBackupURL(url, seen.URL)
}

// isForeign reports whether the backup that the database lists on the tag belongs to
// something else. A tag that never had a backup is not foreign.
func isForeign(s plan.Snapshot) bool {
	live := s.BackupStatus.Status
	return live.Known() && !hasOwnDestination(s.Backup, live.URL)
}

// foreignBackup returns the decision about a backup that does not belong to this resource.
func foreignBackup(c plan.Check) plan.Decision {
	return plan.Decision{Checks: []plan.Check{c}, Hold: &plan.Hold{
		Code:   plan.HoldNotOwnBackup,
		Reason: c.Evidence + "; set another spec.tag in one of the two resources, or stop the backup that is not desired", Manual: true,
	}}
}

// OutstandingOfBackup describes where the resource's own running backup differs from its
// spec. It returns nothing if the state is unknown.
func OutstandingOfBackup(s plan.Snapshot) []string {
	if s.BackupStatus.Why() != "" || !s.Backup.IsManaged() || isForeign(s) {
		return nil
	}
	var words []string
	if endsUnrequested(s) {
		words = append(words, endsUnrequestedReason)
	}
	if needsModification(s) {
		words = append(words, describeDifference(s))
	}
	return words
}

// encryptionKey returns the key file for the tools. A version without encryption is an
// error: the operator then omits the key, and the backup is readable without it.
func encryptionKey(path string, v fdb.Version) (string, error) {
	if path != "" && !v.SupportsBackupEncryption() {
		return "", fmt.Errorf("spec.encryptionKeyPath requires FoundationDB 7.3.73 or 7.4.6: %s cannot encrypt backups", v)
	}
	return path, nil
}
