package ui

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// BackupWithout is a backup that something was to be deleted of, as far as that is; rest is
// what its stage would still do.
func BackupWithout(s plan.Snapshot, rest plan.Decision) Target {
	v := NewBackupDescriptionView(Metadata{}, s)
	t := Target{ID: s.Backup.Name, Phase: "unknown", Note: v.Summary()}
	if v.NoAnswer == "" {
		t.Reached = len(rest.Actions) == 0 && rest.Hold == nil
		t.Phase = map[bool]string{true: "deleted", false: "there"}[t.Reached]
	}
	return t
}

// BackupTo is a backup that is to run, to pause or to be stopped, as far as it does. One
// that is to run has to be restorable as well: until then it is good for nothing. That
// another's backup runs on the tag is never what was asked for.
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
		t.Phase, t.Reached = "runs", state == v1beta2.BackupStateRunning
	case running && restorable.Move != nil:
		t.Phase, t.Note = "moves", restorable.Why
	case running:
		t.Phase, t.Note = "begins", "it cannot be restored before its first snapshot is written"
	case f.isComplete():
		t.Phase, t.Reached = BackupComplete, live.AgentsPaused == (state == v1beta2.BackupStatePaused)
	default:
		t.Phase, t.Note = "stopped", restorable.Why
	}
	return t
}

// BackupComplete is the phase of a backup that was to end with its first snapshot, and did.
const BackupComplete = "complete"

// isComplete reports whether a backup that was to end with its first snapshot has one of
// its own.
func (f BackupFacts) isComplete() bool {
	live := f.BackupStatus.Status
	return f.Backup.BackupMode() == v1beta2.BackupModeOneTime && f.Own.OK && !live.State.Running && f.restorable().OK
}

// restorable says whether the backup can be restored from where it goes.
func (f BackupFacts) restorable() plan.Restorability {
	return plan.CanBeRestored(f.Backup, f.BackupStatus.Status)
}

// foreignWords say that the backup on the tag is another's.
func (f BackupFacts) foreignWords() string {
	return "the backup on tag " + f.BackupStatus.Status.Tag + " is not this record's own: " + f.Own.Evidence
}
