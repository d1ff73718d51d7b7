// Package backup holds the stages of a pass over a FoundationDBBackup or a FoundationDBRestore.
package backup

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
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

// modifyBackup changes the snapshot period or the destination of a running, continuous backup.
// Data that it wrote before stays where it is, and the new destination is restorable only after
// the next complete snapshot.
var modifyBackup = managed(plan.StageModifyBackup, func(s plan.Snapshot) plan.Decision {
	if !needsModification(s) {
		return plan.Decision{}
	}
	own := OwnBackup(s)
	if !own.OK {
		return foreignBackup(own)
	}
	start, _, err := backupStart(s.Backup)
	if err != nil {
		return readings.InvalidSpec(err)
	}
	change := fdb.BackupChange{Tag: start.Tag, Period: start.Period}
	var move *plan.BackupMove
	d := plan.Decision{Why: describeDifference(s), Checks: []plan.Check{own}}
	if !fdb.SameBackupURL(s.BackupStatus.Status.URL, start.URL) {
		change.URL, change.EncryptionKeyFile = start.URL, start.EncryptionKeyFile
		free := checkNoOtherBackupTo(s.OtherBackups, start.URL)
		if !free.OK {
			return destinationInUse(free)
		}
		d.Checks = append(d.Checks, free)
		d.Hold = &plan.Hold{Code: plan.HoldNotRestorableYet, Reason: movedWarning, RetryAfter: moveDelay}
		move = new(plan.MoveTo(s.Backup, s.BackupStatus.Status, start.URL))
	}
	d.Actions = []plan.Action{plan.ModifyBackup{Change: change, Move: move}}
	return d
})

// movedWarning is what the database does not report: after a move it still reports the newest
// restorable point of the former destination.
const movedWarning = "the new destination is not restorable until a complete snapshot that began after the move has ended, even if the database reports a restorable point"

// needsModification returns false while no agent has started the backup: the database does not
// report its period then.
func needsModification(s plan.Snapshot) bool {
	live, b := s.BackupStatus.Status, s.Backup
	if !shouldRun(s) || !isRunning(s) || b.BackupMode() != v1beta2.BackupModeContinuous {
		return false
	}
	if period, known := live.SnapshotPeriod(); known && period != b.SnapshotPeriod() {
		return true
	}
	return hasOtherDestination(s)
}

func hasOtherDestination(s plan.Snapshot) bool {
	desired, err := objects.BackupURL(s.Backup)
	return err == nil && !fdb.SameBackupURL(s.BackupStatus.Status.URL, desired)
}

// describeDifference returns what needs modification.
func describeDifference(s plan.Snapshot) string {
	if hasOtherDestination(s) {
		return "its destination differs from the spec"
	}
	return "its snapshot period differs from the spec"
}

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

// stopBackup stops a backup that is not desired any more. It ends once the database reports it
// restorable, so that the data written so far stays usable. After a move that is immediate, and
// the plan warns that the new destination is not restorable then.
var stopBackup = managed(plan.StageStopBackup, func(s plan.Snapshot) plan.Decision {
	if !needsStop(s) {
		return plan.Decision{}
	}
	own := OwnBackup(s)
	if !own.OK {
		return foreignBackup(own)
	}
	if ending(s) {
		return plan.Wait(backupDelay, plan.HoldNotRestorableYet, "the backup ends once it is restorable")
	}
	return plan.Decision{
		Why: "the backup is not desired any more", Checks: []plan.Check{own},
		Actions: []plan.Action{plan.StopBackup{Tag: string(s.Backup.Tag()), NotRestorable: restorable(s).Why}},
	}
})

func needsStop(s plan.Snapshot) bool { return !shouldRun(s) && isRunning(s) }

// ending reports whether the backup was already stopped and ends after its snapshot. The tools
// refuse a second stop. A single snapshot ends without one.
func ending(s plan.Snapshot) bool {
	stop := s.BackupStatus.Status.StopAfterSnapshot
	return stop != nil && *stop
}

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
