package reconcile_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// vaultOfAll has the API server list the vault's records, and those of another cluster.
func vaultOfAll(t *testing.T) *commandstest.Vault {
	t.Helper()
	v := commandstest.NewVault(t)
	b, r := &v1beta2.FoundationDBBackup{}, &v1beta2.FoundationDBRestore{}
	for name, o := range map[string]client.Object{"nightly": b, "again": r} {
		if err := v.API.Get(t.Context(), types.NamespacedName{Namespace: "fdb", Name: name}, o); err != nil {
			t.Fatal(err)
		}
		o.SetResourceVersion("")
	}
	other := b.DeepCopy()
	other.Name, other.UID, other.Spec.ClusterName = "another", "c", "other-cluster"
	v.Objects = []client.Object{b, r, other}
	return v
}

func TestWithBackupsReconcilesClusterBackupsAndRestoresInOrder(t *testing.T) {
	v := vaultOfAll(t)
	out := v.Must(exit.ExitNo, "+ backup agents ", "plan", "sample", "--with-backups")
	if strings.Contains(out, "another") || strings.Index(out, "sample: ") > strings.Index(out, "fdbbackup/nightly: ") || strings.Index(out, "fdbbackup/nightly: ") > strings.Index(out, "fdbrestore/again: ") {
		t.Errorf("got %s", out)
	}
	v.Run("reconcile", "fdbbackup/nightly", "--yes") // the agents
	v.Must(exit.ExitWaiting, "StartRestore                 waiting  FoundationDBBackup nightly writes to the destination", "reconcile", "sample", "--with-backups", "--yes")
	out = v.Must(exit.ExitDone, "fdbrestore/again: reconciled (", "reconcile", "sample", "--with-backups", "--yes", "--wait")
	want := "sample: already reconciled, no changes\nfdbbackup/nightly: reconciled ("
	if !strings.Contains(out, want) {
		t.Errorf("got %s", out)
	}
	if strings.Index(out, "fdbrestore/again\n") > strings.Index(out, "StartRestore ") {
		t.Errorf("the output is not under its name: %s", out)
	}
	if n := strings.Count(strings.Join(v.Ran, "\n"), "fdbrestore start"); n != 1 {
		t.Errorf("the restore was started %d times: %v", n, v.Ran)
	}
	v.Must(exit.ExitDone, "", "reconcile", "sample", "--with-backups", "--yes")
	v.Must(exit.ExitDone, "", "plan", "sample", "--with-backups")
}

func TestReconcileWithBackupsNamesTheResourceInEachJSONLine(t *testing.T) {
	v := vaultOfAll(t)
	v.Fdbcli("writemode on; set greeting hello")
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
	out := v.Must(exit.ExitRefused, "", "reconcile", "sample", "--with-backups", "--yes", "--wait", "-o", "json")
	seen := map[string]bool{}
	var last struct {
		Kind      string
		ExitCode  int
		Outcome   string
		Resources []struct {
			Resource, Outcome, Reason string
			ExitCode                  int
		}
	}
	for line := range bytes.Lines([]byte(out)) {
		var e struct{ Event, Resource string }
		if err := json.Unmarshal(line, &e); err != nil || json.Unmarshal(line, &last) != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if e.Event != "" {
			seen[e.Resource] = true
		}
	}
	if len(seen) != 3 || !seen["sample"] || !seen["fdbbackup/nightly"] || !seen["fdbrestore/again"] {
		t.Errorf("resources %v", seen)
	}
	if last.Kind != "ReconcileResultList" || last.ExitCode != exit.ExitRefused || len(last.Resources) != 3 || last.Resources[1].ExitCode != exit.ExitDone ||
		!strings.Contains(last.Resources[2].Reason, "holds data") {
		t.Errorf("the last line is %+v", last)
	}
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	commandstest.Valid(t, "plan --with-backups", []byte(v.Must(exit.ExitNo, "", "plan", "sample", "--with-backups", "-o", "json")))
	commandstest.Valid(t, "reconcile --with-backups", []byte(out))
}

// Passes over several resources are one operation on each, and respect those of other runs.
func TestReconcileWithBackupsIsAnOperationOnEachResource(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Cluster.Tick(20 * time.Minute)
	of := v.Attend()
	of.Other = &reconcile.Operation{ID: "run7", Command: "replace sample storage-1 --wait", User: "ann@laptop"}
	if code := v.Run("reconcile", "sample", "--with-backups", "--yes", "--wait", "--timeout", "1m"); code != exit.ExitWaiting || of.Begun > 0 {
		t.Errorf("beside another operation: exit code %d, begun %d times: %s%s", code, of.Begun, &v.Out, &v.Err)
	}
	if code := v.Run("reconcile", "sample", "--with-backups", "--yes"); code != exit.ExitConflict || of.Begun > 0 || !strings.Contains(v.Err.String(), "another operation is active: run7") {
		t.Errorf("without --wait: exit code %d, begun %d times: %s%s", code, of.Begun, &v.Out, &v.Err)
	}
	of.Other, of.Own = nil, nil
	v.Run("reconcile", "sample", "--with-backups", "--yes", "--wait", "--timeout", "5m")
	if len(of.Own) != 3 || of.Ended != 3 || of.Own[0].Command != "reconcile sample --with-backups --wait" {
		t.Errorf("%d operations, %d ended: %+v", len(of.Own), of.Ended, of.Own)
	}
}

// A list of plans is applied only as it was approved, for all of its resources or for none.
func TestReconcileWithBackupsAppliesExactlyTheApprovedPlans(t *testing.T) {
	other := func(t *testing.T, v *commandstest.Vault, path string) { // of one resource
		t.Helper()
		text := v.Must(exit.ExitNo, "", "plan", "fdbbackup/nightly", "-o", "json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edited := func(t *testing.T, _ *commandstest.Vault, path string) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Replace(text, []byte(`"summary": "`), []byte(`"summary": "not `), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(t *testing.T, v *commandstest.Vault, _ string) {
		t.Helper()
		if err := v.API.Delete(t.Context(), v.Restore()); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		change func(t *testing.T, v *commandstest.Vault, path string)
		want   int
		says   string
		made   bool
	}{
		"as they were approved": {want: exit.ExitConflict, says: "create Deployment nightly-backup-agents with 1 agent", made: true},
		"a backup that has another spec now": {change: func(_ *testing.T, v *commandstest.Vault, _ string) {
			v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.AgentCount = new(2) })
		}, want: exit.ExitConflict, says: "the same as when the plan was made"},
		"a restore that is not there any more": {change: gone, want: exit.ExitUsage, says: "is for fdbrestore/again, which does not exist any more"},
		"a plan of one resource":               {change: other, want: exit.ExitUsage, says: "must be PlanList"},
		"an edited plan":                       {change: edited, want: exit.ExitUsage, says: "it was modified"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := vaultOfAll(t)
			path := v.Planned("reconcile", "sample", "--with-backups")
			if tc.change != nil {
				tc.change(t, v, path)
			}
			v.Must(tc.want, tc.says, "reconcile", "sample", "--with-backups", "--plan", path, "--yes")
			agents := v.API.Get(t.Context(), types.NamespacedName{Namespace: "fdb", Name: "nightly-backup-agents"}, &appsv1.Deployment{})
			if made := agents == nil; made != tc.made {
				t.Errorf("agents were made: %t", made)
			}
		})
	}
}

// What a dry run of one resource has is not lost where there are several.
func TestADryRunWithBackupsShowsWhatOneOfTheClusterShows(t *testing.T) {
	v := vaultOfAll(t)
	v.Cluster.Resource.Spec.ProcessCounts.Storage = 4
	v.Cluster.Resource.Generation++
	out := v.Must(exit.ExitNo, "", "plan", "sample", "--with-backups", "--simulate", "1", "-o", "json")
	for _, field := range []string{`"forecast": {`, `"simulations": {`, `"digests": {`} {
		if !strings.Contains(out, field) {
			t.Errorf("no %s in the plans", field)
		}
	}
	v.Must(exit.ExitNo, "fdbbackup/nightly: not checked: only changes of clusters can be submitted", "reconcile", "sample", "--with-backups", "--dry-run=server")
}

// One question is for all, and shows the restore as well.
func TestReconcileWithBackupsPromptsOnce(t *testing.T) {
	for answer, want := range map[string]int{"y\n": exit.ExitWaiting, "n\n": exit.ExitUnconfirmed} {
		v := vaultOfAll(t)
		v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
		v.Cluster.FDB.Advance(time.Minute)
		v.Ran, v.Input = nil, &answer
		v.Must(want, "restore everything", "reconcile", "sample", "--with-backups")
		if n := strings.Count(v.Err.String(), "[y/N]"); n != 1 {
			t.Errorf("%d questions: %s", n, &v.Err)
		}
		if started := strings.Contains(strings.Join(v.Ran, "\n"), "fdbrestore start"); started != (want != exit.ExitUnconfirmed) {
			t.Errorf("after %q the restore was started: %t", answer, started)
		}
	}
}

func TestRestoresWaitUntilTheDatabaseIsAvailable(t *testing.T) {
	v := vaultOfAll(t)
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
	for name := range v.Cluster.Pods {
		v.Cluster.KillServers(name)
	}
	v.Ran = nil
	v.Run("reconcile", "sample", "--with-backups", "--yes")
	if !strings.Contains(v.Out.String(), "waiting for the database of cluster sample to be available") || strings.Contains(strings.Join(v.Ran, "\n"), "fdbrestore start") {
		t.Errorf("%s%s%v", &v.Out, &v.Err, v.Ran)
	}
}

// A script that reconciles everything does not lose data, and gets the commands for it.
func TestWithBackupsDeletesNoDataWithoutConfirmation(t *testing.T) {
	again := func(t *testing.T) *commandstest.Vault {
		t.Helper()
		v := doomed(t)
		b := &v1beta2.FoundationDBBackup{}
		if err := v.API.Get(t.Context(), types.NamespacedName{Namespace: "fdb", Name: "nightly"}, b); err != nil {
			t.Fatal(err)
		}
		b.ResourceVersion = ""
		v.Objects = []client.Object{b}
		return v
	}
	const then = "hint: apply: kubectl fdb reconcile fdbbackup/nightly --plan plan.json --yes --confirm nightly --reason"
	t.Run("once", func(t *testing.T) {
		v := again(t)
		v.Must(exit.ExitUnconfirmed, then, "reconcile", "sample", "--with-backups", "--yes")
		if v.Deleted() {
			t.Error("deleted")
		}
	})
	t.Run("watching", func(t *testing.T) {
		v := again(t)
		w := &commandstest.Watched{Given: v.Given, Steps: []func(){func() {}, func() {}}}
		if code := w.Run("--with-backups", "--yes"); code != exit.ExitDone || v.Deleted() ||
			strings.Count(v.Err.String(), then) != 1 || !strings.Contains(v.Err.String(), apply.LossNotWatched) {
			t.Errorf("exit code %d, deleted %t: %s%s", code, v.Deleted(), &v.Out, &v.Err)
		}
	})
	t.Run("by name", func(t *testing.T) {
		v := again(t)
		v.Input = new("y\nnightly\n")
		v.Must(exit.ExitWaiting, "Type the name of the backup", "reconcile", "sample", "--with-backups") // the restore has no agents now
		if !v.Deleted() {
			t.Error("not deleted")
		}
	})
}

func TestAWatchWithBackupsReconcilesNewBackupsAndRestores(t *testing.T) {
	v := vaultOfAll(t)
	all := v.Objects
	v.Objects = nil
	w := &commandstest.Watched{Given: v.Given, Steps: []func(){func() { v.Objects = all }, func() {}, func() {}}}
	if code := w.Run("--with-backups", "--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &v.Err)
	}
	if !strings.Contains(v.Out.String(), "start a backup on tag default") || !strings.Contains(v.Out.String(), "restore everything") {
		t.Errorf("got %s%s", &v.Out, &v.Err)
	}
}

func TestWithBackupsRejectsConflictingArguments(t *testing.T) {
	tests := map[string]struct {
		args   []string
		denied []string
		want   int
		says   string
	}{
		"steps":              {args: []string{"reconcile", "sample", "--only", "AddPods", "--yes"}, want: exit.ExitUsage, says: "the stages of one resource"},
		"a plan of no file":  {args: []string{"reconcile", "sample", "--plan", "nowhere.json", "--yes"}, want: exit.ExitUsage, says: "no such file"},
		"steps of a plan":    {args: []string{"plan", "sample", "--skip", "AddPods"}, want: exit.ExitUsage, says: "the stages of one resource"},
		"a backup":           {args: []string{"reconcile", "fdbbackup/nightly", "--yes"}, want: exit.ExitUsage, says: "--with-backups requires a cluster"},
		"a plan of a backup": {args: []string{"plan", "fdbbackup/nightly"}, want: exit.ExitUsage, says: "--with-backups requires a cluster"},
		"a missing right": {
			args: []string{"reconcile", "sample", "--yes"}, denied: []string{"list foundationdbrestores.apps.foundationdb.org"},
			want: exit.ExitForbidden, says: "list foundationdbrestores.apps.foundationdb.org (nothing was changed)",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := vaultOfAll(t)
			v.Denied = tc.denied
			v.Must(tc.want, tc.says, append(tc.args, "--with-backups")...)
			if len(v.Ran) > 0 {
				t.Errorf("ran %v", v.Ran)
			}
		})
	}
}

func TestTheMostSignificantErrorDeterminesTheExitCode(t *testing.T) {
	refused, waits := &exit.Error{Code: exit.ExitRefused}, &exit.Error{Code: exit.ExitWaiting}
	tests := map[string]struct {
		ends []error
		want int
	}{
		"all well":       {[]error{nil, nil}, exit.ExitDone},
		"one waits":      {[]error{nil, waits}, exit.ExitWaiting},
		"one is refused": {[]error{waits, refused, nil}, exit.ExitRefused},
		"one is unknown": {[]error{waits, &exit.Error{Code: exit.ExitUsage}, refused}, exit.ExitUsage},
	}
	for name, tc := range tests {
		if got := exit.Code(apply.MostSignificant(tc.ends)); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
