package commands

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

const nightlyPlace = "blobstore://key@store:443/nightly?bucket=fdb-backups&region=eu"

// doomed is a backup that ran, whose resource is being deleted, and whose data is to be
// deleted.
func doomed(t *testing.T) *vault {
	t.Helper()
	v := newVault(t)
	v.edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.DeletionPolicy = new(v1beta2.BackupDeletionPolicyCleanup) })
	v.must(ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.world.FDB.Advance(time.Minute)
	v.must(ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes")
	v.tool(v.t.Context(), "fdbbackup", "abort", "-t", "default")
	b := &v1beta2.FoundationDBBackup{}
	if err := v.api.Get(t.Context(), types.NamespacedName{Namespace: "fdb", Name: "nightly"}, b); err != nil {
		t.Fatal(err)
	}
	if err := v.api.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return v
}

// deleted reports whether the data of the backup was deleted.
func (v *vault) deleted() bool {
	for _, line := range v.ran {
		if strings.Contains(line, "fdbbackup delete") {
			return true
		}
	}
	return false
}

func TestDataOfABackupIsDeletedByNameOnly(t *testing.T) {
	tests := map[string]struct {
		args  []string // PLAN is a plan of it
		typed string   // on a terminal; empty for none
		want  int
		says  string
		gone  bool
	}{
		"all four": {args: []string{"--yes", "--confirm", "nightly", "--plan", "PLAN", "--reason", "it is old"}, gone: true},
		"--yes alone": {
			args: []string{"--yes"}, want: ExitUnconfirmed,
			says: "hint: apply: kubectl fdb reconcile fdbbackup/nightly --plan plan.json --yes --confirm nightly --reason",
		},
		"--yes --wait":                      {args: []string{"--yes", "--wait"}, want: ExitUnconfirmed, says: "--yes is not sufficient (nothing was changed)"},
		"a plan and --yes":                  {args: []string{"--yes", "--plan", "PLAN"}, want: ExitUnconfirmed, says: "--yes is not sufficient"},
		"without --yes":                     {args: []string{"--confirm", "nightly", "--plan", "PLAN", "--reason", "x"}, want: ExitUnconfirmed},
		"without a plan":                    {args: []string{"--yes", "--confirm", "nightly", "--reason", "x"}, want: ExitUnconfirmed},
		"without a reason":                  {args: []string{"--yes", "--confirm", "nightly", "--plan", "PLAN"}, want: ExitUnconfirmed},
		"the name is typed":                 {typed: "nightly\n", says: "Type the name of the backup", gone: true},
		"the name is typed for a plan":      {args: []string{"--plan", "PLAN"}, typed: "nightly\n", gone: true},
		"y is typed":                        {typed: "y\n", want: ExitUnconfirmed, says: "the answer does not match nightly"},
		"--yes on a terminal is not enough": {args: []string{"--yes"}, typed: "y\n", want: ExitUnconfirmed, says: "the answer does not match nightly"},
		"--yes and the name":                {args: []string{"--yes"}, typed: "nightly\n", gone: true},
		"a dry run needs none of it":        {args: []string{"--dry-run"}, want: ExitNo, says: "data-loss"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := doomed(t)
			path := v.planned("reconcile", "fdbbackup/nightly")
			args := []string{"reconcile", "fdbbackup/nightly"}
			for _, arg := range tc.args {
				args = append(args, strings.ReplaceAll(arg, "PLAN", path))
			}
			if tc.typed != "" {
				v.input = &tc.typed
			}
			v.must(tc.want, tc.says, args...)
			if v.deleted() != tc.gone {
				t.Errorf("deleted %t, want %t: %v", v.deleted(), tc.gone, v.ran)
			}
		})
	}
}

// The TUI requires the typed name, and without a prompt nothing is lost.
func TestTheScreenHasTheNameTypedForWhatLosesData(t *testing.T) {
	loss := planned.PlanView{Items: []planned.PlanItem{{ActionRecord: inspect.ActionRecord{Impact: plan.DataLoss}}}}
	p := &passes{run: run{env: &Env{}, key: types.NamespacedName{Name: "nightly"}, record: backupKind}}
	typed := ""
	p.env.observer = &runObserver{agrees: func(_ context.Context, _ planned.PlanView, _, confirm string) error { typed = confirm; return nil }}
	if got := p.confirms(loss); got != "nightly" {
		t.Errorf("a proposal asks for %q", got)
	}
	if err := p.question(t.Context(), loss); err != nil || typed != "nightly" || p.approved.named == nil {
		t.Errorf("a question asks for %q: %v", typed, err)
	}
	if got := p.confirms(planned.PlanView{}); got != "y" {
		t.Errorf("without a loss it asks for %q", got)
	}
}

func TestANameHoldsForOneSpecOnly(t *testing.T) {
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
			a := approval{everything: true, exact: map[string]bool{plan.Fingerprint(deletion): true}, named: &identity{"b", 1}}
			_ = a.holdsFor(tc.then)
			if got := a.permits("CarryOutDeletion", deletion); got != tc.want {
				t.Errorf("permitted: %t", got)
			}
		})
	}
	for name, a := range map[string]approval{"everything": {everything: true}, "a kind": {kinds: map[string]bool{"DeleteBackupData": true}}, "the fingerprint": {exact: map[string]bool{plan.Fingerprint(deletion): true}}} {
		if a.permits("CarryOutDeletion", deletion) {
			t.Errorf("%s is enough", name)
		}
	}
	beyond := &reconcile.BeyondPlanError{Stage: "CarryOutDeletion", Action: deletion}
	if !strings.Contains(beyond.Error(), "was not confirmed by name") {
		t.Error(beyond)
	}
}

func TestPlansOfBackupsAndRestores(t *testing.T) {
	v := newVault(t)
	v.must(ExitNo, "ApplyAgents", "plan", "fdbbackup/nightly")
	v.must(ExitNo, "no pod of a backup agent is ready", "diff", "fdbrestore/again")
	v.must(ExitUsage, "must be one of CarryOutDeletion", "plan", "fdbbackup/nightly", "--only", "AddPods")
	v.must(ExitUsage, "conflicts with cluster sample", "plan", "fdbbackup/nightly", "-c", "sample")
	path := v.planned("reconcile", "fdbbackup/nightly")
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
	v.must(ExitUsage, "is for fdbbackup/nightly in namespace fdb, not for fdbrestore/again", "reconcile", "fdbrestore/again", "--plan", path, "--yes")
	v.must(ExitUsage, "not for cluster sample", "reconcile", "sample", "--plan", path, "--yes")
	v.must(ExitWaiting, "create a plan for the rest", "reconcile", "fdbbackup/nightly", "--plan", path, "--yes")
	v.must(ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.must(ExitDone, "", "plan", "fdbbackup/nightly")
	stop := v.planned("backup", "stop", "nightly")
	v.must(ExitConflict, "G-PLAN", "backup", "pause", "nightly", "--plan", stop, "--yes")
	v.must(ExitDone, "", "backup", "stop", "nightly", "--plan", stop, "--yes")
}

// What was approved for a restore is about this restore, and not about another of its name.
func TestAPlanOfARestoreIsCarriedOutOnce(t *testing.T) {
	v := newVault(t)
	v.fdbcli("writemode on; set greeting hello")
	v.must(ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.world.FDB.Advance(time.Minute)
	v.fdbcli(`writemode on; clearrange "" \xff`)
	v.must(ExitDone, "", "backup", "stop", "nightly", "--yes", "--wait")
	path := v.planned("reconcile", "fdbrestore/again")
	v.must(ExitWaiting, "", "reconcile", "fdbrestore/again", "--plan", path, "--yes")
	v.must(ExitDone, "the restore is completed", "reconcile", "fdbrestore/again", "--yes", "--wait")
	v.must(ExitDone, "", "plan", "fdbrestore/again", "-o", "yaml")
}
