package targets

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// BackupWithout returns the progress of a deletion in a backup; rest is what its stage would
// still do.
func BackupWithout(s plan.Snapshot, rest plan.Decision) inspect.Target {
	v := lists.NewBackupDescriptionView(inspect.Metadata{}, s)
	t := inspect.Target{ID: s.Backup.Name, Phase: "unknown", Note: v.Summary()}
	if v.UnknownReason == "" {
		t.Reached = len(rest.Actions) == 0 && rest.Hold == nil
		t.Phase = map[bool]string{true: "deleted", false: "present"}[t.Reached]
	}
	return t
}

// BackupTo returns the progress of a backup towards a state. A backup that should run must
// be restorable as well. A backup of another resource on the tag never counts.
func BackupTo(f inspect.BackupFacts, state v1beta2.BackupState) inspect.Target {
	t := inspect.Target{ID: f.Backup.Name, Phase: "unknown"}
	live := f.BackupStatus.Status
	if live == nil {
		t.Note = f.BackupStatus.Why()
		return t
	}
	restorable := f.Restorable()
	if state == v1beta2.BackupStateStopped && !live.State.Running {
		t.Phase, t.Reached, t.Note = "stopped", true, restorable.Why
		return t
	}
	switch running := live.State.Running; {
	case running && !f.Own.OK:
		t.Phase, t.Note = "foreign", f.ForeignWords()
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
	case f.IsComplete():
		t.Phase, t.Reached = BackupComplete, live.AgentsPaused == (state == v1beta2.BackupStatePaused)
	default:
		t.Phase, t.Note = "stopped", restorable.Why
	}
	return t
}

// BackupComplete is the phase of a one-time backup that has ended with its first snapshot.
const BackupComplete = "complete"
