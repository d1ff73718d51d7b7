package ui

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// restorableBackup is a backup that runs, can be restored, and is the record's own.
func restorableBackup(lag *int64) BackupFacts {
	f := BackupFacts{Own: plan.Check{OK: true}, MaxLag: DefaultMaxLag}
	f.Backup = &v1beta2.FoundationDBBackup{}
	f.Backup.Spec.AgentCount = new(0)
	f.BackupStatus.Status = &fdb.BackupStatus{
		Tag: "default", UID: "1", Restorable: new(true), LatestRestorable: &fdb.BackupMoment{Version: 7, LagSeconds: lag},
	}
	f.BackupStatus.Status.State.Name, f.BackupStatus.Status.State.Running = fdb.BackupDifferential, true
	return f
}

// movedBackup is a backup that was moved, of which the database says what it said before.
func movedBackup(lag int64) BackupFacts {
	f := restorableBackup(&lag)
	live := f.BackupStatus.Status
	live.Snapshot = &fdb.BackupSnapshot{Begin: fdb.BackupMoment{Version: 3}}
	f.Backup.Annotations = map[string]string{plan.AnnotationBackupMove: plan.MoveTo(f.Backup, live, "blobstore://new").Note()}
	live.URL = "blobstore://new"
	return f
}

// The database calls a backup restorable that was moved: that is so of the former place.
func TestABackupThatWasMovedIsNotCalledRestorable(t *testing.T) {
	f := movedBackup(20)
	v := NewBackupStatusView(Metadata{}, f)
	if *v.Restorable || v.LatestRestorable != nil || v.Move == nil || v.Move.Begun || *v.Reconciled || !strings.Contains(v.Summary, "whatever the database says") {
		t.Errorf("got %+v", v)
	}
	if got := (v.restorableVersion() + " " + v.restorableAge()); got != "no "+phrase.Nothing {
		t.Errorf("got %s", got)
	}
	if got := BackupTo(f, v1beta2.BackupStateRunning); got.Reached || got.Phase != "moving" || !strings.Contains(got.Note, "after the move") {
		t.Errorf("got %+v", got)
	}
	if v := NewBackupStatusView(Metadata{}, movedBackup(3600)); !strings.Contains(v.Summary, "the newest change in the backup is 60m old, more than 10m") {
		t.Errorf("got %s", v.Summary)
	}
	f.BackupStatus.Status.State.Name, f.BackupStatus.Status.State.Running = fdb.BackupCompleted, false
	if got := BackupTo(f, v1beta2.BackupStateStopped); !got.Reached || !strings.Contains(got.Note, "the backup ended before that") {
		t.Errorf("got %+v", got)
	}
	f.Backup.Spec.BackupState = v1beta2.BackupStateStopped
	if v := NewBackupStatusView(Metadata{}, f); !strings.Contains(v.Summary, "the backup ended before that") {
		t.Errorf("got %s", v.Summary)
	}
	f.Backup.Spec.BackupMode, f.Backup.Spec.BackupState = new(v1beta2.BackupModeOneTime), ""
	if f.isComplete() {
		t.Error("it counts as the one snapshot that was asked for")
	}
}

// Unknown is not 0: a limit is kept only by what is known to be within it.
func TestALagThatNobodyKnowsIsWithinNoLimit(t *testing.T) {
	tests := map[string]struct {
		lag  *int64
		good bool
		says string
	}{
		"one that is known and small": {new(int64(20)), true, "up to 20s ago"},
		"one that is too large":       {new(int64(3600)), false, "more than 10m"},
		"one that nobody knows":       {nil, false, "the age of the newest restorable point is unknown"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := NewBackupStatusView(Metadata{}, restorableBackup(tt.lag))
			if v.Reconciled == nil || *v.Reconciled != tt.good || !strings.Contains(v.Summary, tt.says) {
				t.Errorf("as wanted %v: %s", v.Reconciled, v.Summary)
			}
		})
	}
}

// What waits to be carried out is not reconciled, however well the rest is.
func TestWhatIsOutstandingIsAProblem(t *testing.T) {
	f := restorableBackup(new(int64(20)))
	f.Outstanding = []string{"it was told to end"}
	if v := NewBackupStatusView(Metadata{}, f); *v.Reconciled || !strings.Contains(v.Summary, "it was told to end") {
		t.Errorf("got %s", v.Summary)
	}
	if got := BackupTo(f, v1beta2.BackupStateRunning); got.Reached {
		t.Errorf("it counts as reached: %+v", got)
	}
}
