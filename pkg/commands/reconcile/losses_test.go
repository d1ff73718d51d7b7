package reconcile_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const nightlyPlace = "blobstore://key@store:443/nightly?bucket=fdb-backups&region=eu"

// doomed is a backup that ran, whose resource is being deleted, and whose data is to be
// deleted.
func doomed(t *testing.T) *commandstest.Vault {
	t.Helper()
	v := commandstest.NewVault(t)
	v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.DeletionPolicy = new(v1beta2.BackupDeletionPolicyCleanup) })
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes")
	v.Tool(v.T.Context(), "fdbbackup", "abort", "-t", "default")
	b := &v1beta2.FoundationDBBackup{}
	if err := v.API.Get(t.Context(), types.NamespacedName{Namespace: "fdb", Name: "nightly"}, b); err != nil {
		t.Fatal(err)
	}
	if err := v.API.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDeletingBackupDataRequiresConfirmationByName(t *testing.T) {
	tests := map[string]struct {
		args    []string // PLAN is a plan of it
		typed   string   // on a terminal; empty for none
		want    int
		says    string
		removed bool
	}{
		"all four": {args: []string{"--yes", "--confirm", "nightly", "--plan", "PLAN", "--reason", "it is old"}, removed: true},
		"--yes alone": {
			args: []string{"--yes"}, want: exit.ExitUnconfirmed,
			says: "hint: apply: kubectl fdb reconcile fdbbackup/nightly --plan plan.json --yes --confirm nightly --reason",
		},
		"--yes --wait":                      {args: []string{"--yes", "--wait"}, want: exit.ExitUnconfirmed, says: "--yes is not sufficient (nothing was changed)"},
		"a plan and --yes":                  {args: []string{"--yes", "--plan", "PLAN"}, want: exit.ExitUnconfirmed, says: "--yes is not sufficient"},
		"without --yes":                     {args: []string{"--confirm", "nightly", "--plan", "PLAN", "--reason", "x"}, want: exit.ExitUnconfirmed},
		"without a plan":                    {args: []string{"--yes", "--confirm", "nightly", "--reason", "x"}, want: exit.ExitUnconfirmed},
		"without a reason":                  {args: []string{"--yes", "--confirm", "nightly", "--plan", "PLAN"}, want: exit.ExitUnconfirmed},
		"the name is typed":                 {typed: "nightly\n", says: "Type the name of the backup", removed: true},
		"the name is typed for a plan":      {args: []string{"--plan", "PLAN"}, typed: "nightly\n", removed: true},
		"y is typed":                        {typed: "y\n", want: exit.ExitUnconfirmed, says: "the answer does not match nightly"},
		"--yes on a terminal is not enough": {args: []string{"--yes"}, typed: "y\n", want: exit.ExitUnconfirmed, says: "the answer does not match nightly"},
		"--yes and the name":                {args: []string{"--yes"}, typed: "nightly\n", removed: true},
		"a dry run needs none of it":        {args: []string{"--dry-run"}, want: exit.ExitNo, says: "data-loss"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := doomed(t)
			path := v.Planned("reconcile", "fdbbackup/nightly")
			args := []string{"reconcile", "fdbbackup/nightly"}
			for _, arg := range tc.args {
				args = append(args, strings.ReplaceAll(arg, "PLAN", path))
			}
			if tc.typed != "" {
				v.Input = &tc.typed
			}
			v.Must(tc.want, tc.says, args...)
			if v.Deleted() != tc.removed {
				t.Errorf("deleted %t, want %t: %v", v.Deleted(), tc.removed, v.Ran)
			}
		})
	}
}

func TestABackupDeletionConfirmedByNameHoldsForOneSpec(t *testing.T) {
	deletion := plan.DeleteBackupData{Backup: "nightly", URL: nightlyPlace}
	seen := func(uid types.UID, generation int64) plan.Snapshot {
		b := &v1beta2.FoundationDBBackup{}
		b.UID, b.Generation = uid, generation
		return plan.Snapshot{Backup: b}
	}
	tests := map[string]struct {
		then plan.Snapshot
		want bool
	}{
		"the same":         {seen("b", 1), true},
		"another spec":     {seen("b", 2), false},
		"another resource": {seen("c", 1), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := apply.Approval{Everything: true, Exact: map[string]bool{plan.Fingerprint(deletion): true}, Named: &apply.Identity{UID: "b", Generation: 1}}
			_ = a.HoldsFor(tc.then)
			if got := a.Permits("CarryOutDeletion", deletion); got != tc.want {
				t.Errorf("permitted: %t", got)
			}
		})
	}
	for name, a := range map[string]apply.Approval{"everything": {Everything: true}, "a kind": {Kinds: map[string]bool{"DeleteBackupData": true}}, "the fingerprint": {Exact: map[string]bool{plan.Fingerprint(deletion): true}}} {
		if a.Permits("CarryOutDeletion", deletion) {
			t.Errorf("%s is enough", name)
		}
	}
	beyond := &reconcile.BeyondPlanError{Stage: "CarryOutDeletion", Action: deletion}
	if !strings.Contains(beyond.Error(), "was not confirmed by name") {
		t.Error(beyond)
	}
}

// The spec is read by every stage, and its error is that of the pass.
func TestAnInvalidBackupIsReportedOnce(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.AccountName = "my-bucket" })
	out := v.Must(exit.ExitUsage, `accountName: Invalid value: "my-bucket"`, "plan", "fdbbackup/nightly")
	if n := strings.Count(out, "my-bucket"); n != 1 {
		t.Errorf("%d times, want once:\n%s", n, out)
	}
}

func TestPlansOfBackupsAndRestores(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Must(exit.ExitNo, "+ backup agents ", "plan", "fdbbackup/nightly")
	v.Must(exit.ExitNo, "no pod of a backup agent is ready", "diff", "fdbrestore/again")
	v.Must(exit.ExitUsage, "must be one of CarryOutDeletion", "plan", "fdbbackup/nightly", "--only", "AddPods")
	v.Must(exit.ExitUsage, "conflicts with cluster sample", "plan", "fdbbackup/nightly", "-c", "sample")
	path := v.Planned("reconcile", "fdbbackup/nightly")
	var got struct {
		Metadata struct{ Cluster string }
		Observed struct{ UID string }
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Metadata.Cluster != "fdbbackup/nightly" || got.Observed.UID != "b" {
		t.Errorf("%v: %s", err, text)
	}
	v.Must(exit.ExitUsage, "is for fdbbackup/nightly in namespace fdb, not for fdbrestore/again", "reconcile", "fdbrestore/again", "--plan", path, "--yes")
	v.Must(exit.ExitUsage, "not for cluster sample", "reconcile", "sample", "--plan", path, "--yes")
	v.Must(exit.ExitWaiting, "create a plan for the rest", "reconcile", "fdbbackup/nightly", "--plan", path, "--yes")
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Must(exit.ExitDone, "", "plan", "fdbbackup/nightly")
	stop := v.Planned("backup", "stop", "nightly")
	v.Must(exit.ExitConflict, "G-PLAN", "backup", "pause", "nightly", "--plan", stop, "--yes")
	v.Must(exit.ExitDone, "", "backup", "stop", "nightly", "--plan", stop, "--yes")
}

// What was approved for a restore is about this restore, and not about another of its name.
func TestASavedRestorePlanIsAppliedAndCompleted(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Fdbcli("writemode on; set greeting hello")
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	v.Must(exit.ExitDone, "", "backup", "stop", "nightly", "--yes", "--wait")
	path := v.Planned("reconcile", "fdbrestore/again")
	v.Must(exit.ExitWaiting, "", "reconcile", "fdbrestore/again", "--plan", path, "--yes")
	v.Must(exit.ExitDone, "the restore is completed", "reconcile", "fdbrestore/again", "--yes", "--wait")
	v.Must(exit.ExitDone, "", "plan", "fdbrestore/again", "-o", "yaml")
}
