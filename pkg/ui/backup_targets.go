package ui

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// BackupWithout returns the progress of a deletion in a backup; rest is what its stage would
// still do.
func BackupWithout(s plan.Snapshot, rest plan.Decision) Target {
	v := NewBackupDescriptionView(Metadata{}, s)
	t := Target{ID: s.Backup.Name, Phase: "unknown", Note: v.Summary()}
	if v.UnknownReason == "" {
		t.Reached = len(rest.Actions) == 0 && rest.Hold == nil
		t.Phase = map[bool]string{true: "deleted", false: "present"}[t.Reached]
	}
	return t
}

// BackupTo returns the progress of a backup towards a state. A backup that should run must
// be restorable as well. A backup of another resource on the tag never counts.
func BackupTo(f BackupFacts, state v1beta2.BackupState) Target {
	t := Target{ID: f.Backup.Name, Phase: "unknown"}
	live := f.BackupStatus.Status
	if live == nil {
		t.Note = f.BackupStatus.Why()
		return t
	}
	restorable := f.restorable()
	if state == v1beta2.BackupStateStopped && !live.State.Running {
		t.Phase, t.Reached, t.Note = "stopped", true, restorable.Why
		return t
	}
	switch running := live.State.Running; {
	case running && !f.Own.OK:
		t.Phase, t.Note = "foreign", f.foreignWords()
	case running && live.AgentsPaused:
		t.Phase, t.Reached = "paused", state == v1beta2.BackupStatePaused
	case running && len(f.Outstanding) > 0:
		t.Phase, t.Note = "differs", strings.Join(f.Outstanding, "; ")
	case running && restorable.OK:
		t.Phase, t.Reached = "running", state == v1beta2.BackupStateRunning
	case running && restorable.Move != nil:
		t.Phase, t.Note = "moving", restorable.Why
	case running:
		t.Phase, t.Note = "starting", "it is not restorable until its first snapshot is written"
	case f.isComplete():
		t.Phase, t.Reached = BackupComplete, live.AgentsPaused == (state == v1beta2.BackupStatePaused)
	default:
		t.Phase, t.Note = "stopped", restorable.Why
	}
	return t
}

// BackupComplete is the phase of a one-time backup that has ended with its first snapshot.
const BackupComplete = "complete"

// isComplete reports whether a one-time backup has ended with a snapshot of its own.
func (f BackupFacts) isComplete() bool {
	live := f.BackupStatus.Status
	return f.Backup.BackupMode() == v1beta2.BackupModeOneTime && f.Own.OK && !live.State.Running && f.restorable().OK
}

// restorable reports whether the backup can be restored from its destination.
func (f BackupFacts) restorable() plan.Restorability {
	return plan.CanBeRestored(f.Backup, f.BackupStatus.Status)
}

// foreignWords says that the backup on the tag belongs to another resource.
func (f BackupFacts) foreignWords() string {
	return "the backup on tag " + f.BackupStatus.Status.Tag + " does not belong to this resource: " + f.Own.Evidence
}
