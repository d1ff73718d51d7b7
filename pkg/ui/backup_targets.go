package ui

import (
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
// that is to run has to be restorable as well: until then it is good for nothing.
func BackupTo(s plan.Snapshot, state v1beta2.BackupState) Target {
	t := Target{ID: s.Backup.Name, Phase: "unknown"}
	live := s.BackupStatus.Status
	if live == nil {
		t.Note = s.BackupStatus.Why()
		return t
	}
	switch running := live.State.Running; {
	case running && live.AgentsPaused:
		t.Phase, t.Reached = "paused", state == v1beta2.BackupStatePaused
	case running && live.CanBeRestored():
		t.Phase, t.Reached = "runs", state == v1beta2.BackupStateRunning
	case running:
		t.Phase, t.Note = "begins", "it cannot be restored before its first snapshot is written"
	default:
		t.Phase, t.Reached = "stopped", state == v1beta2.BackupStateStopped
	}
	return t
}
