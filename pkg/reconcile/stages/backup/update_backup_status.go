package backup

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// updateBackupStatus records the observed state of agents and backup, and what the spec waits for,
// and waits until a desired backup can be restored. While the database does not answer, its last
// state stays. A URL is recorded without secrets, which the operator writes. Nothing is recorded
// about a foreign backup on the tag: the status describes the resource's own backup, which may be
// stopped, moved or deleted. A changed tag ends the pass: the backup on the old one would
// otherwise run unmanaged.
var updateBackupStatus = plan.Stage{
	Name:  plan.StageUpdateBackupStatus,
	Reads: plan.Backup | plan.Agents | plan.BackupStatus,
	Decide: func(s plan.Snapshot) plan.Decision {
		if s.Backup.DeletionTimestamp != nil {
			return plan.Decision{}
		}
		if old := formerTag(s.Backup); old != "" {
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldTagChanged, Manual: true, Then: plan.EndPass, Reason: fmt.Sprintf(
				"spec.tag is %s, and this backup runs on tag %s: a tag cannot be changed; create another FoundationDBBackup for the new one",
				s.Backup.Tag(), old)}}
		}
		fresh, err := backupStatus(s)
		if err != nil {
			return readings.InvalidSpec(err)
		}
		var d plan.Decision
		note := noteOfMove(s)
		if !reflect.DeepEqual(fresh, s.Backup.Status) || note != s.Backup.Annotations[plan.AnnotationBackupMove] {
			d.Why = "the status differs from the observed state"
			d.Actions = []plan.Action{plan.WriteBackupStatus{
				Backup: s.Backup.Name, Changes: backupChanges(s, fresh, note), Status: fresh, Move: note,
			}}
		}
		why := s.BackupStatus.Why()
		switch {
		case why == "" && s.Backup.IsManaged() && isRunning(s) && isForeign(s):
			d.Hold = foreignBackup(OwnBackup(s)).Hold
		case why != "":
			d.Hold = &plan.Hold{Code: plan.HoldBackupStateUnknown, Reason: "the status keeps the last known state of the backup: " + why, RetryAfter: backupDelay}
		case begins(s):
			d.Hold = firstSnapshotHold(s)
		}
		return d
	},
}

// begins reports whether the resource's own backup runs as desired and is not restorable yet. A
// paused one makes no progress, and StopBackup waits for one that ends.
func begins(s plan.Snapshot) bool {
	return s.Backup.IsManaged() && orRunning(s.Backup.Spec.BackupState) == v1beta2.BackupStateRunning &&
		isRunning(s) && !restorable(s).OK
}

// firstSnapshotHold waits for the first snapshot, or the first after a move, with the errors that
// prevent agents from writing it.
func firstSnapshotHold(s plan.Snapshot) *plan.Hold {
	reason, delay := notRestorableYet, backupDelay
	if r := restorable(s); r.Move != nil {
		reason, delay = r.Why, moveDelay
	}
	if found := s.BackupStatus.Errors; len(found) > 0 {
		reason += "; errors of agents: " + strings.Join(found, ", ")
	}
	return &plan.Hold{Code: plan.HoldNotRestorableYet, Reason: reason, RetryAfter: delay}
}

// formerTag returns the tag that the resource's backup was last observed on, if its spec now has
// another one; empty otherwise.
func formerTag(b *v1beta2.FoundationDBBackup) string {
	if old := b.Status.BackupDetails; old != nil && old.Tag != string(b.Tag()) {
		return old.Tag
	}
	return ""
}

// backupStatus returns the status that the resource should have.
func backupStatus(s plan.Snapshot) (v1beta2.FoundationDBBackupStatus, error) {
	want, err := objects.AgentDeployment(s.Backup)
	if err != nil {
		return v1beta2.FoundationDBBackupStatus{}, err
	}
	fresh := v1beta2.FoundationDBBackupStatus{
		DeploymentConfigured: agentsConfigured(s, want),
		BackupDetails:        backupDetails(s),
	}
	if have := s.Agents.Deployment; have != nil {
		fresh.AgentCount = int(min(have.Status.ReadyReplicas, have.Status.UpdatedReplicas))
	}
	fresh.Generations = Generations(s, fresh)
	return fresh, nil
}

func backupDetails(s plan.Snapshot) *v1beta2.FoundationDBBackupStatusBackupDetails {
	live := s.BackupStatus.Status
	if live == nil {
		return s.Backup.Status.BackupDetails.DeepCopy()
	}
	if isForeign(s) {
		return detailsBesideForeign(s.Backup.Status.BackupDetails, live)
	}
	return &v1beta2.FoundationDBBackupStatusBackupDetails{
		URL: fdb.WithoutSecrets(live.URL), Running: live.State.Running, Paused: live.AgentsPaused,
		SnapshotTime: int(ptr.Deref(live.SnapshotSeconds, 0)), Restorable: restorable(s).OK, Tag: live.Tag,
	}
}

// noteOfMove returns the note about a move of the backup. Nothing changes while the database does
// not answer, and nothing is noted about a foreign backup.
func noteOfMove(s plan.Snapshot) string {
	if s.BackupStatus.Status == nil || isForeign(s) || !s.Backup.IsManaged() {
		return s.Backup.Annotations[plan.AnnotationBackupMove]
	}
	return plan.NoteOfMove(s.Backup, s.BackupStatus.Status)
}

// detailsBesideForeign returns the recorded details of the resource's own backup, which does not
// run while the tag has a foreign one. Its destination and restorability stay valid.
func detailsBesideForeign(old *v1beta2.FoundationDBBackupStatusBackupDetails, live *fdb.BackupStatus) *v1beta2.FoundationDBBackupStatusBackupDetails {
	kept := old.DeepCopy()
	if kept != nil {
		kept.Running, kept.Paused, kept.SnapshotTime = false, live.AgentsPaused, 0
	}
	return kept
}

// Generations returns what the spec waits for. While the database does not answer that stays
// unchanged, and no generation counts as reconciled.
func Generations(s plan.Snapshot, fresh v1beta2.FoundationDBBackupStatus) v1beta2.BackupGenerationStatus {
	old, generation := s.Backup.Status.Generations, s.Backup.Generation
	g := v1beta2.BackupGenerationStatus{Reconciled: old.Reconciled}
	wait := func(needed bool, into *int64) {
		if needed {
			*into = generation
		}
	}
	wait(fresh.AgentCount != s.Backup.AgentCount() || !fresh.DeploymentConfigured, &g.NeedsBackupAgentUpdate)
	switch {
	case s.Backup.IsManaged() && s.BackupStatus.Status == nil:
		agents := g.NeedsBackupAgentUpdate
		g = old
		g.NeedsBackupAgentUpdate = agents
		return g
	case s.Backup.IsManaged():
		wait(needsStart(s), &g.NeedsBackupStart)
		wait(needsStop(s), &g.NeedsBackupStop)
		wait(needsToggle(s), &g.NeedsBackupPauseToggle)
		wait(needsModification(s), &g.NeedsBackupModification)
	}
	if (g == v1beta2.BackupGenerationStatus{Reconciled: old.Reconciled}) {
		g.Reconciled = generation
	}
	return g
}

// backupChanges describes the differences between two statuses.
func backupChanges(s plan.Snapshot, fresh v1beta2.FoundationDBBackupStatus, note string) []string {
	old := s.Backup.Status
	var changes []string
	add := func(differs bool, format string, args ...any) {
		if differs {
			changes = append(changes, fmt.Sprintf(format, args...))
		}
	}
	add(old.AgentCount != fresh.AgentCount, "%s ready", phrase.Count(fresh.AgentCount, "agent"))
	add(old.DeploymentConfigured != fresh.DeploymentConfigured, "deployment configured: %t", fresh.DeploymentConfigured)
	before, now := ptr.Deref(old.BackupDetails, v1beta2.FoundationDBBackupStatusBackupDetails{}), ptr.Deref(fresh.BackupDetails, v1beta2.FoundationDBBackupStatusBackupDetails{})
	add(before.Running != now.Running, "running: %t", now.Running)
	add(before.Paused != now.Paused, "paused: %t", now.Paused)
	add(before.Restorable != now.Restorable, "restorable: %t", now.Restorable)
	add(before.SnapshotTime != now.SnapshotTime, "a snapshot every %d s", now.SnapshotTime)
	add(before.URL != now.URL, "destination: %s", now.URL)
	noted := s.Backup.Annotations[plan.AnnotationBackupMove]
	add(noted != note && note != "", "progress of its move")
	add(noted != "" && note == "", "its move is over")
	add(old.Generations.Reconciled != fresh.Generations.Reconciled, "generation %d reconciled", fresh.Generations.Reconciled)
	add(len(changes) == 0, "what the spec waits for")
	return changes
}
