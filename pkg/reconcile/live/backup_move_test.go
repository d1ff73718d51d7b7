package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
)

// toMove has a backup that runs, and a resource that asks for another place.
func toMove(t *testing.T) *vault {
	t.Helper()
	v := newVault(t)
	v.change(func(b *v1beta2.FoundationDBBackup) { b.Spec.SnapshotPeriodSeconds = new(600) })
	v.settleBackup()
	v.nodes.FDB.Advance(time.Minute)
	v.passOver(v.backup, backup.Backup())
	v.change(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.BackupName = "hourly" })
	return v
}

func (v *vault) noteOfMove() string { return v.theBackup().Annotations[plan.AnnotationBackupMove] }

func isModify(argv []string) bool { return len(argv) > 1 && argv[1] == "modify" }

// A backup that was moved and not noted would count as restorable.
func TestABackupMoveIsRecordedBeforeItIsSent(t *testing.T) {
	v := toMove(t)
	noted := ""
	v.problem = func(argv []string) error {
		if isModify(argv) {
			noted = v.noteOfMove()
		}
		return nil
	}
	v.passOver(v.backup, backup.Backup())
	if !strings.Contains(noted, "/hourly?") || !strings.Contains(noted, `"from":"blobstore://key@store:443/nightly?`) {
		t.Errorf("noted %q before the move", noted)
	}
	if d := v.theBackup().Status.BackupDetails; d.Restorable || !strings.Contains(d.URL, "/hourly?") {
		t.Errorf("recorded %+v", d)
	}
}

func TestABackupIsNotMovedIfTheMoveCannotBeRecorded(t *testing.T) {
	v := toMove(t)
	v.backup.Client = interceptor.NewClient(withWatch(t, v.backup.Client), interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return errors.New("forbidden")
		},
	})
	done := v.passOver(v.backup, backup.Backup())
	if len(done.Failures) != 1 || !strings.Contains(done.Failures[0].Error(), "record the move of FoundationDBBackup nightly: forbidden") {
		t.Errorf("got %v", done.Failures)
	}
	for _, argv := range v.ran {
		if isModify(argv) {
			t.Errorf("ran %v", argv)
		}
	}
}

func withWatch(t *testing.T, c client.Client) client.WithWatch { //nolint:ireturn // the client's own shape
	t.Helper()
	w, ok := c.(client.WithWatch)
	if !ok {
		t.Fatalf("%T does not watch", c)
	}
	return w
}

// Whenever a run ends, no record calls a backup restorable that is not, and the next runs
// bring the move to its end.
func TestABackupMoveCompletesIfARunIsKilledBetweenAnyTwoActions(t *testing.T) {
	for _, late := range []bool{false, true} {
		for at := 1; at <= 3; at++ {
			v := toMove(t)
			left := at
			var output strings.Builder
			reportsOf(v, &mortal{clusterOfBackups: v.backup, left: &left, after: late}, backup.Backup(), &output)
			v.passOver(v.backup, backup.Backup())
			if d := v.theBackup().Status.BackupDetails; d.Restorable {
				t.Errorf("killed at action %d, late %t: recorded %+v", at, late, d)
			}
			for range 3 {
				v.nodes.FDB.Advance(11 * time.Minute)
				v.passOver(v.backup, backup.Backup())
			}
			if d := v.theBackup().Status.BackupDetails; !d.Restorable || !strings.Contains(d.URL, "/hourly?") || v.noteOfMove() != "" {
				t.Errorf("killed at action %d, late %t: %+v, noted %q", at, late, d, v.noteOfMove())
			}
		}
	}
}

// A user who moves a backup manually notes nothing: that it goes elsewhere than it was last
// seen to go is enough.
func TestAManualBackupMoveIsDetected(t *testing.T) {
	v := toMove(t)
	v.tool("fdbbackup", "modify", "-t", "default", "-d", "blobstore://key@store:443/hourly?bucket=fdb-backups&region=eu")
	var s plan.Snapshot
	if err := v.backup.Observe(t.Context(), &s, plan.Backup|plan.BackupStatus); err != nil {
		t.Fatal(err)
	}
	if got := plan.CanBeRestored(s.Backup, s.BackupStatus.Status); got.OK || got.Move == nil {
		t.Errorf("before a pass: %+v", got)
	}
	v.passOver(v.backup, backup.Backup())
	if d := v.theBackup().Status.BackupDetails; d.Restorable || v.noteOfMove() == "" {
		t.Errorf("recorded %+v, noted %q", d, v.noteOfMove())
	}
}
