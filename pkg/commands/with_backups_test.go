package commands

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// vaultOfAll has the API server list the vault's records, and those of another cluster.
func vaultOfAll(t *testing.T) *vault {
	t.Helper()
	v := newVault(t)
	b, r := &v1beta2.FoundationDBBackup{}, &v1beta2.FoundationDBRestore{}
	for name, o := range map[string]client.Object{"nightly": b, "again": r} {
		if err := v.api.Get(t.Context(), types.NamespacedName{Namespace: "fdb", Name: name}, o); err != nil {
			t.Fatal(err)
		}
		o.SetResourceVersion("")
	}
	other := b.DeepCopy()
	other.Name, other.UID, other.Spec.ClusterName = "another", "c", "other-cluster"
	v.objects = []client.Object{b, r, other}
	return v
}

func TestWithBackupsReconcilesClusterBackupsAndRestoresInOrder(t *testing.T) {
	v := vaultOfAll(t)
	out := v.must(exit.ExitNo, "ApplyAgents", "plan", "sample", "--with-backups")
	if strings.Contains(out, "another") || strings.Index(out, "sample: ") > strings.Index(out, "fdbbackup/nightly: ") || strings.Index(out, "fdbbackup/nightly: ") > strings.Index(out, "fdbrestore/again: ") {
		t.Errorf("got %s", out)
	}
	v.run("reconcile", "fdbbackup/nightly", "--yes") // the agents
	v.must(exit.ExitWaiting, "StartRestore                 waiting  FoundationDBBackup nightly writes to the destination", "reconcile", "sample", "--with-backups", "--yes")
	out = v.must(exit.ExitDone, "fdbrestore/again: reconciled (", "reconcile", "sample", "--with-backups", "--yes", "--wait")
	want := "sample: already reconciled, no changes\nfdbbackup/nightly: reconciled ("
	if !strings.Contains(out, want) {
		t.Errorf("got %s", out)
	}
	if strings.Index(out, "fdbrestore/again\n") > strings.Index(out, "StartRestore ") {
		t.Errorf("the output is not under its name: %s", out)
	}
	if n := strings.Count(strings.Join(v.ran, "\n"), "fdbrestore start"); n != 1 {
		t.Errorf("the restore was started %d times: %v", n, v.ran)
	}
	v.must(exit.ExitDone, "", "reconcile", "sample", "--with-backups", "--yes")
	v.must(exit.ExitDone, "", "plan", "sample", "--with-backups")
}

func TestReconcileWithBackupsNamesTheResourceInEachJSONLine(t *testing.T) {
	v := vaultOfAll(t)
	v.fdbcli("writemode on; set greeting hello")
	v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.cluster.FDB.Advance(time.Minute)
	out := v.must(exit.ExitRefused, "", "reconcile", "sample", "--with-backups", "--yes", "--wait", "-o", "json")
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
	v.fdbcli(`writemode on; clearrange "" \xff`)
	valid(t, "plan --with-backups", []byte(v.must(exit.ExitNo, "", "plan", "sample", "--with-backups", "-o", "json")))
	valid(t, "reconcile --with-backups", []byte(out))
}

// Passes over several resources are one operation on each, and respect those of other runs.
func TestReconcileWithBackupsIsAnOperationOnEachResource(t *testing.T) {
	v := newVault(t)
	v.cluster.Tick(20 * time.Minute)
	of := v.attend()
	of.other = &reconcile.Operation{ID: "run7", Command: "replace sample storage-1 --wait", User: "ann@laptop"}
	if code := v.run("reconcile", "sample", "--with-backups", "--yes", "--wait", "--timeout", "1m"); code != exit.ExitWaiting || of.begun > 0 {
		t.Errorf("beside another operation: exit code %d, begun %d times: %s%s", code, of.begun, &v.out, &v.err)
	}
	if code := v.run("reconcile", "sample", "--with-backups", "--yes"); code != exit.ExitConflict || of.begun > 0 || !strings.Contains(v.err.String(), "another operation is active: run7") {
		t.Errorf("without --wait: exit code %d, begun %d times: %s%s", code, of.begun, &v.out, &v.err)
	}
	of.other, of.own = nil, nil
	v.run("reconcile", "sample", "--with-backups", "--yes", "--wait", "--timeout", "5m")
	if len(of.own) != 3 || of.ended != 3 || of.own[0].Command != "reconcile sample --with-backups --wait" {
		t.Errorf("%d operations, %d ended: %+v", len(of.own), of.ended, of.own)
	}
}

// One question is for all, and shows the restore as well.
func TestReconcileWithBackupsPromptsOnce(t *testing.T) {
	for answer, want := range map[string]int{"y\n": exit.ExitWaiting, "n\n": exit.ExitUnconfirmed} {
		v := vaultOfAll(t)
		v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
		v.cluster.FDB.Advance(time.Minute)
		v.ran, v.input = nil, &answer
		v.must(want, "restore everything", "reconcile", "sample", "--with-backups")
		if n := strings.Count(v.err.String(), "[y/N]"); n != 1 {
			t.Errorf("%d questions: %s", n, &v.err)
		}
		if started := strings.Contains(strings.Join(v.ran, "\n"), "fdbrestore start"); started != (want != exit.ExitUnconfirmed) {
			t.Errorf("after %q the restore was started: %t", answer, started)
		}
	}
}

func TestRestoresWaitUntilTheDatabaseIsAvailable(t *testing.T) {
	v := vaultOfAll(t)
	v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.cluster.FDB.Advance(time.Minute)
	for name := range v.cluster.Pods {
		v.cluster.KillServers(name)
	}
	v.ran = nil
	v.run("reconcile", "sample", "--with-backups", "--yes")
	if !strings.Contains(v.out.String(), "waiting for the database of cluster sample to be available") || strings.Contains(strings.Join(v.ran, "\n"), "fdbrestore start") {
		t.Errorf("%s%s%v", &v.out, &v.err, v.ran)
	}
}

// A script that reconciles everything does not lose data, and gets the commands for it.
func TestWithBackupsDeletesNoDataWithoutConfirmation(t *testing.T) {
	again := func(t *testing.T) *vault {
		t.Helper()
		v := doomed(t)
		b := &v1beta2.FoundationDBBackup{}
		if err := v.api.Get(t.Context(), types.NamespacedName{Namespace: "fdb", Name: "nightly"}, b); err != nil {
			t.Fatal(err)
		}
		b.ResourceVersion = ""
		v.objects = []client.Object{b}
		return v
	}
	const then = "hint: apply: kubectl fdb reconcile fdbbackup/nightly --plan plan.json --yes --confirm nightly --reason"
	t.Run("once", func(t *testing.T) {
		v := again(t)
		v.must(exit.ExitUnconfirmed, then, "reconcile", "sample", "--with-backups", "--yes")
		if v.deleted() {
			t.Error("deleted")
		}
	})
	t.Run("watching", func(t *testing.T) {
		v := again(t)
		w := &watched{given: v.given, steps: []func(){func() {}, func() {}}}
		if code := w.run("--with-backups", "--yes"); code != exit.ExitDone || v.deleted() ||
			strings.Count(v.err.String(), then) != 1 || !strings.Contains(v.err.String(), apply.LossNotWatched) {
			t.Errorf("exit code %d, deleted %t: %s%s", code, v.deleted(), &v.out, &v.err)
		}
	})
	t.Run("by name", func(t *testing.T) {
		v := again(t)
		v.input = new("y\nnightly\n")
		v.must(exit.ExitWaiting, "Type the name of the backup", "reconcile", "sample", "--with-backups") // the restore has no agents now
		if !v.deleted() {
			t.Error("not deleted")
		}
	})
}

func TestAWatchWithBackupsReconcilesNewBackupsAndRestores(t *testing.T) {
	v := vaultOfAll(t)
	all := v.objects
	v.objects = nil
	w := &watched{given: v.given, steps: []func(){func() { v.objects = all }, func() {}, func() {}}}
	if code := w.run("--with-backups", "--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &v.err)
	}
	if !strings.Contains(v.out.String(), "start a backup on tag default") || !strings.Contains(v.out.String(), "restore everything") {
		t.Errorf("got %s%s", &v.out, &v.err)
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
		"a plan":             {args: []string{"reconcile", "sample", "--plan", "plan.json", "--yes"}, want: exit.ExitUsage, says: "--plan conflicts with --with-backups"},
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
			v.denied = tc.denied
			v.must(tc.want, tc.says, append(tc.args, "--with-backups")...)
			if len(v.ran) > 0 {
				t.Errorf("ran %v", v.ran)
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
