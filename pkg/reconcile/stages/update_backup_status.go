package stages

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
)

// updateBackupStatus records what was observed of agents and backup, and what the spec
// waits for, and waits until a backup that is to run can be restored. While the database
// cannot be asked, what it last said stays. A URL is recorded without secrets, which the
// operator writes down with it. Of another's backup on the tag nothing is recorded: what is
// recorded counts as the record's own from then on, and would be ended, moved or deleted as
// such. A tag that changed ends the pass: the backup on the old one would go on without
// anybody looking after it.
var updateBackupStatus = plan.Stage{
	Name:  plan.StageUpdateBackupStatus,
	Reads: plan.Backup | plan.Agents | plan.BackupStatus,
	Decide: func(s plan.Snapshot) plan.Decision {
		if s.Backup.DeletionTimestamp != nil {
			return plan.Decision{}
		}
		if old := formerTag(s.Backup); old != "" {
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldTagChanged, Human: true, Then: plan.EndPass, Reason: fmt.Sprintf(
				"spec.tag is %s, and this backup runs on tag %s: a tag cannot be changed; make another FoundationDBBackup for the new one",
				s.Backup.Tag(), old)}}
		}
		fresh, err := backupStatus(s)
		if err != nil {
			return contradiction(err)
		}
		var d plan.Decision
		note := noteOfMove(s)
		if !reflect.DeepEqual(fresh, s.Backup.Status) || note != s.Backup.Annotations[plan.AnnotationBackupMove] {
			d.Why = "it differs from what was recorded before"
			d.Actions = []plan.Action{plan.WriteBackupStatus{
				Backup: s.Backup.Name, Changes: backupChanges(s, fresh, note), Status: fresh, Move: note,
			}}
		}
		why := s.BackupStatus.Why()
		switch {
		case why == "" && s.Backup.IsManaged() && isRunning(s) && isForeign(s):
			d.Hold = notOurs(OwnBackup(s)).Hold
		case why != "":
			d.Hold = &plan.Hold{Code: plan.HoldBackupStateUnknown, Reason: "what the database last said of the backup stays recorded: " + why, RetryAfter: backupDelay}
		case begins(s):
			d.Hold = firstSnapshotHold(s)
		}
		return d
	},
}

// begins reports whether the record's own backup runs, as it should, and is of no use yet.
// One that is paused gets no further, and one that is to end is waited for by StopBackup.
func begins(s plan.Snapshot) bool {
	return s.Backup.IsManaged() && orRunning(s.Backup.Spec.BackupState) == v1beta2.BackupStateRunning &&
		isRunning(s) && !restorable(s).OK
}

// firstSnapshotHold waits for the first snapshot, or the first after a move, and says what
// keeps agents from writing it.
func firstSnapshotHold(s plan.Snapshot) *plan.Hold {
	reason, delay := notRestorableYet, backupDelay
	if r := restorable(s); r.Move != nil {
		reason, delay = r.Why, moveDelay
	}
	if met := s.BackupStatus.Errors; len(met) > 0 {
		reason += "; agents meet errors: " + strings.Join(met, ", ")
	}
	return &plan.Hold{Code: plan.HoldNotRestorableYet, Reason: reason, RetryAfter: delay}
}

// formerTag is the tag that the record's backup was last seen on, where its spec now names
// another one; empty where that is the same.
func formerTag(b *v1beta2.FoundationDBBackup) string {
	if old := b.Status.BackupDetails; old != nil && old.Tag != string(b.Tag()) {
		return old.Tag
	}
	return ""
}

// backupStatus is what the record should say.
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
	fresh.Generations = backupGenerations(s, fresh)
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

// noteOfMove is what the record should say of a move of its backup. Nothing changes while
// the database cannot be asked, and of another's backup nothing is noted.
func noteOfMove(s plan.Snapshot) string {
	if s.BackupStatus.Status == nil || isForeign(s) || !s.Backup.IsManaged() {
		return s.Backup.Annotations[plan.AnnotationBackupMove]
	}
	return plan.NoteOfMove(s.Backup, s.BackupStatus.Status)
}

// detailsBesideForeign are what was recorded of the record's own backup, which does not run
// while the tag is another's. Where it went, and whether it can be restored, stays true.
func detailsBesideForeign(old *v1beta2.FoundationDBBackupStatusBackupDetails, live *fdb.BackupStatus) *v1beta2.FoundationDBBackupStatusBackupDetails {
	kept := old.DeepCopy()
	if kept != nil {
		kept.Running, kept.Paused, kept.SnapshotTime = false, live.AgentsPaused, 0
	}
	return kept
}

// backupGenerations says what the spec waits for. Where the database cannot be asked it
// waits for what it waited for, and nothing counts as reached.
func backupGenerations(s plan.Snapshot, fresh v1beta2.FoundationDBBackupStatus) v1beta2.BackupGenerationStatus {
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

// backupChanges says in words what differs between two statuses.
func backupChanges(s plan.Snapshot, fresh v1beta2.FoundationDBBackupStatus, note string) []string {
	old := s.Backup.Status
	var changes []string
	add := func(differs bool, format string, args ...any) {
		if differs {
			changes = append(changes, fmt.Sprintf(format, args...))
		}
	}
	add(old.AgentCount != fresh.AgentCount, "%s ready", phrase.Count(fresh.AgentCount, "agent"))
	add(old.DeploymentConfigured != fresh.DeploymentConfigured, "deployment as wanted: %t", fresh.DeploymentConfigured)
	before, now := ptr.Deref(old.BackupDetails, v1beta2.FoundationDBBackupStatusBackupDetails{}), ptr.Deref(fresh.BackupDetails, v1beta2.FoundationDBBackupStatusBackupDetails{})
	add(before.Running != now.Running, "running: %t", now.Running)
	add(before.Paused != now.Paused, "paused: %t", now.Paused)
	add(before.Restorable != now.Restorable, "restorable: %t", now.Restorable)
	add(before.SnapshotTime != now.SnapshotTime, "a snapshot every %d s", now.SnapshotTime)
	add(before.URL != now.URL, "it goes to %s", now.URL)
	noted := s.Backup.Annotations[plan.AnnotationBackupMove]
	add(noted != note && note != "", "how far its move is")
	add(noted != "" && note == "", "its move is over")
	add(old.Generations.Reconciled != fresh.Generations.Reconciled, "generation %d reached", fresh.Generations.Reconciled)
	add(len(changes) == 0, "what the spec waits for")
	return changes
}
