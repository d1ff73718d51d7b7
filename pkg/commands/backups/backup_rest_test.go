package backups_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func overdue() (admin.Result, error) { return admin.Result{ExitCode: 124}, nil }

// What was approved is what is left of it as well: a second try with the same plan goes on.
func TestAnInterruptedBackupDeletionResumesWithTheSamePlan(t *testing.T) {
	v := commandstest.Stopped(t)
	path := v.Planned("backup", "delete", "nightly")
	v.Halved(1, overdue)
	output := v.Must(exit.ExitPartly, isUnfinished, byPlan(path, "backup", "delete", "nightly")...)
	if strings.Contains(output, "no answer") || !strings.Contains(v.Err.String(), "resume: kubectl fdb backup delete nightly") {
		t.Errorf("got %s%s", output, &v.Err)
	}
	if d := v.Described(); !*d.Exists {
		t.Fatal("nothing is left to go on with")
	}
	v.Must(exit.ExitDone, "the store has no backup", byPlan(path, "backup", "delete", "nightly")...)
	if d := v.Described(); *d.Exists {
		t.Errorf("got %+v", d)
	}
}

func TestAnInterruptedBackupExpiryResumesWithTheSamePlan(t *testing.T) {
	v := commandstest.Stopped(t)
	args := []string{"backup", "expire", "nightly", "--before-version", fmt.Sprint(v.Described().Snapshots[3].Begin.Version)}
	path := v.Planned(args...)
	snapshots := v.Described().Snapshots
	v.Cut = func(ctx context.Context) (admin.Result, error) {
		v.Cut = nil
		v.Tool(ctx, "fdbbackup", "expire", "-d", commandstest.PlaceOfNightly, "--expire-before-version", fmt.Sprint(snapshots[1].Begin.Version))
		return overdue()
	}
	v.Must(exit.ExitPartly, isUnfinished, byPlan(path, args...)...)
	v.Must(exit.ExitDone, "nothing left to delete", byPlan(path, args...)...)
	if left := v.Described().Snapshots; len(left) != len(snapshots)-3 {
		t.Errorf("%d of %d snapshots are left", len(left), len(snapshots))
	}
}

// Data written since then was not approved, however much of the rest is deleted.
func TestABackupDeletionBeyondTheApprovedDataIsRefused(t *testing.T) {
	v := commandstest.Stopped(t)
	path := v.Planned("backup", "delete", "nightly")
	v.Halved(1, overdue)
	v.Must(exit.ExitPartly, isUnfinished, byPlan(path, "backup", "delete", "nightly")...)
	v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupState = "" })
	v.Must(exit.ExitDone, "", "backup", "start", "nightly", "--yes", "--wait")
	v.Must(exit.ExitDone, "", "backup", "stop", "nightly", "--yes", "--wait")
	v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Generation = 1 }) // the spec as in the plan
	ran := len(v.Deletions())
	v.Must(exit.ExitConflict, "not approved", byPlan(path, "backup", "delete", "nightly")...)
	if all := v.Deletions(); len(all) != ran {
		t.Errorf("ran %v", all[ran:])
	}
}

// With --wait an interrupted deletion is resumed with the same approval.
func TestAWaitResumesAnInterruptedBackupDeletion(t *testing.T) {
	v := commandstest.Stopped(t)
	v.Input = new("nightly\n")
	v.Halved(2, overdue)
	v.Must(exit.ExitDone, "the store has no backup", "backup", "delete", "nightly", "--wait")
	if n := len(v.Deletions()); n < 4 {
		t.Errorf("ran %v", v.Deletions())
	}
}
