package commands

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const placeOfNightly = "blobstore://key@store:443/nightly?bucket=fdb-backups&region=eu"

// halved interrupts the next deletions once the oldest snapshots are deleted.
func (v *vault) halved(times int, end func() (admin.Result, error)) {
	v.t.Helper()
	snapshots := v.described().Snapshots
	if len(snapshots) < times+2 {
		v.t.Fatalf("there are %d snapshots", len(snapshots))
	}
	at := 0
	v.cut = func(ctx context.Context) (admin.Result, error) {
		at++
		if at == times {
			v.cut = nil
		}
		v.tool(ctx, "fdbbackup", "expire", "-d", placeOfNightly, "--expire-before-version", fmt.Sprint(snapshots[at].Begin.Version), "--force")
		return end()
	}
}

func overdue() (admin.Result, error) { return admin.Result{ExitCode: 124}, nil }

// What was approved is what is left of it as well: a second try with the same plan goes on.
func TestAnInterruptedBackupDeletionResumesWithTheSamePlan(t *testing.T) {
	v := stopped(t)
	path := v.planned("backup", "delete", "nightly")
	v.halved(1, overdue)
	output := v.must(exit.ExitPartly, isUnfinished, byPlan(path, "backup", "delete", "nightly")...)
	if strings.Contains(output, "no answer") || !strings.Contains(v.err.String(), "resume: kubectl fdb backup delete nightly") {
		t.Errorf("got %s%s", output, &v.err)
	}
	if d := v.described(); !*d.Exists {
		t.Fatal("nothing is left to go on with")
	}
	v.must(exit.ExitDone, "the store has no backup", byPlan(path, "backup", "delete", "nightly")...)
	if d := v.described(); *d.Exists {
		t.Errorf("got %+v", d)
	}
}

func TestAnInterruptedBackupExpiryResumesWithTheSamePlan(t *testing.T) {
	v := stopped(t)
	args := []string{"backup", "expire", "nightly", "--before-version", fmt.Sprint(v.described().Snapshots[3].Begin.Version)}
	path := v.planned(args...)
	snapshots := v.described().Snapshots
	v.cut = func(ctx context.Context) (admin.Result, error) {
		v.cut = nil
		v.tool(ctx, "fdbbackup", "expire", "-d", placeOfNightly, "--expire-before-version", fmt.Sprint(snapshots[1].Begin.Version))
		return overdue()
	}
	v.must(exit.ExitPartly, isUnfinished, byPlan(path, args...)...)
	v.must(exit.ExitDone, "nothing left to delete", byPlan(path, args...)...)
	if left := v.described().Snapshots; len(left) != len(snapshots)-3 {
		t.Errorf("%d of %d snapshots are left", len(left), len(snapshots))
	}
}

// Data written since then was not approved, however much of the rest is deleted.
func TestABackupDeletionBeyondTheApprovedDataIsRefused(t *testing.T) {
	v := stopped(t)
	path := v.planned("backup", "delete", "nightly")
	v.halved(1, overdue)
	v.must(exit.ExitPartly, isUnfinished, byPlan(path, "backup", "delete", "nightly")...)
	v.edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupState = "" })
	v.must(exit.ExitDone, "", "backup", "start", "nightly", "--yes", "--wait")
	v.must(exit.ExitDone, "", "backup", "stop", "nightly", "--yes", "--wait")
	v.edit(func(b *v1beta2.FoundationDBBackup) { b.Generation = 1 }) // the spec as in the plan
	ran := len(v.deletions())
	v.must(exit.ExitConflict, "not approved", byPlan(path, "backup", "delete", "nightly")...)
	if all := v.deletions(); len(all) != ran {
		t.Errorf("ran %v", all[ran:])
	}
}

// With --wait an interrupted deletion is resumed with the same approval.
func TestAWaitResumesAnInterruptedBackupDeletion(t *testing.T) {
	v := stopped(t)
	v.input = new("nightly\n")
	v.halved(2, overdue)
	v.must(exit.ExitDone, "the store has no backup", "backup", "delete", "nightly", "--wait")
	if n := len(v.deletions()); n < 4 {
		t.Errorf("ran %v", v.deletions())
	}
}
