package inspect_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// movedBackup is a backup that was moved, of which the database reports what it did before.
func movedBackup(lag int64) inspect.BackupFacts {
	f := inspect.RestorableBackup(&lag)
	live := f.BackupStatus.Status
	live.Snapshot = &fdb.BackupSnapshot{Begin: fdb.BackupMoment{Version: 3}}
	f.Backup.Annotations = map[string]string{plan.AnnotationBackupMove: plan.MoveTo(f.Backup, live, "blobstore://new").Note()}
	live.URL = "blobstore://new"
	return f
}

// The database calls a backup restorable that was moved: that is so of the former place.
func TestBackupStatusOfAMovedBackupIsNotRestorable(t *testing.T) {
	f := movedBackup(20)
	v := inspect.NewBackupStatusView(inspect.Metadata{}, f)
	if *v.Restorable || v.LatestRestorable != nil || v.Move == nil || v.Move.Begun || *v.Reconciled || !strings.Contains(v.Summary, "even if the database reports it restorable") {
		t.Errorf("got %+v", v)
	}
	if got := v.RestorableWords(list.At{}); got != "no" {
		t.Errorf("got %s", got)
	}
	if got := targets.BackupTo(f, v1beta2.BackupStateRunning); got.Reached || got.Phase != "moving" || !strings.Contains(got.Note, "after the move") {
		t.Errorf("got %+v", got)
	}
	if v := inspect.NewBackupStatusView(inspect.Metadata{}, movedBackup(3600)); !strings.Contains(v.Summary, "the newest change in the backup is 60m old, more than 10m") {
		t.Errorf("got %s", v.Summary)
	}
	f.BackupStatus.Status.State.Name, f.BackupStatus.Status.State.Running = fdb.BackupCompleted, false
	if got := targets.BackupTo(f, v1beta2.BackupStateStopped); !got.Reached || !strings.Contains(got.Note, "the backup ended before") {
		t.Errorf("got %+v", got)
	}
	f.Backup.Spec.BackupState = v1beta2.BackupStateStopped
	if v := inspect.NewBackupStatusView(inspect.Metadata{}, f); !strings.Contains(v.Summary, "the backup ended before") {
		t.Errorf("got %s", v.Summary)
	}
	f.Backup.Spec.BackupMode, f.Backup.Spec.BackupState = new(v1beta2.BackupModeOneTime), ""
	if f.IsComplete() {
		t.Error("it counts as the one snapshot that was requested")
	}
}

// What waits to be carried out is not reconciled, however well the rest is.
func TestABackupWithOutstandingChangesIsNotReconciled(t *testing.T) {
	f := inspect.RestorableBackup(new(int64(20)))
	f.Outstanding = []string{"it was ordered to end"}
	if v := inspect.NewBackupStatusView(inspect.Metadata{}, f); *v.Reconciled || !strings.Contains(v.Summary, "it was ordered to end") {
		t.Errorf("got %s", v.Summary)
	}
	if got := targets.BackupTo(f, v1beta2.BackupStateRunning); got.Reached {
		t.Errorf("it counts as reached: %+v", got)
	}
}
