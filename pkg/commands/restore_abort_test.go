package commands

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// restoring is a vault with a running restore of deleted data. Agents are paused, so that it
// stays so.
func restoring(t *testing.T) *vault {
	t.Helper()
	v := newVault(t)
	v.fdbcli("writemode on; set greeting hello")
	v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.cluster.FDB.Advance(time.Minute)
	v.fdbcli(`writemode on; clearrange "" \xff`)
	v.must(exit.ExitWaiting, "the restore is queued", "reconcile", "fdbrestore/again", "--yes")
	v.tool(v.t.Context(), "fdbbackup", "pause")
	return v
}

func (v *vault) restore() *v1beta2.FoundationDBRestore {
	v.t.Helper()
	r := &v1beta2.FoundationDBRestore{}
	if err := v.api.Get(v.t.Context(), types.NamespacedName{Namespace: "fdb", Name: "again"}, r); err != nil {
		v.t.Fatal(err)
	}
	return r
}

// besides makes another restore of the same.
func (v *vault) besides(name string, status v1beta2.FoundationDBRestoreStatus) {
	v.t.Helper()
	other := &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "fdb"}, Spec: v.restore().Spec}
	if err := v.api.Create(v.t.Context(), other); err != nil {
		v.t.Fatal(err)
	}
	other.Status = status
	if err := v.api.Status().Update(v.t.Context(), other); err != nil {
		v.t.Fatal(err)
	}
}

// aborts counts the aborts that were sent.
func (v *vault) aborts() int {
	n := 0
	for _, line := range v.ran {
		if strings.Contains(line, "fdbrestore abort") {
			n++
		}
	}
	return n
}

func TestAnAbortedRestoreUnlocksTheDatabaseAndNeverRestarts(t *testing.T) {
	v := restoring(t)
	v.input = new("again\n")
	output := v.must(exit.ExitDone, "Type the name of the restore", "restore", "abort", "again")
	for _, want := range []string{"fdbrestore/again: the restore is aborted and will not continue", "the database is not locked: clients can read and write it"} {
		if !strings.Contains(output, want) {
			t.Errorf("want %q in %s", want, output)
		}
	}
	if s := v.restore().Status; s.State != v1beta2.RestoreStateAborted || s.Running {
		t.Errorf("the status is %+v", s)
	}
	v.fdbcli("writemode on; set x y") // the database is not locked
	v.fdbcli(`writemode on; clearrange "" \xff`)
	v.input = nil
	v.must(exit.ExitRefused, "it is never started again", "reconcile", "fdbrestore/again", "--yes")
	v.must(exit.ExitNo, "it was aborted, which unlocked the database", "restore", "status", "again")
	v.must(exit.ExitNo, "aborted", "wait", "fdbrestore/again", "--for=done")
	v.must(exit.ExitNo, "foundationdbrestore/again", "wait", "fdbrestore/again", "--for=done", "-o", "name")
	v.must(exit.ExitNo, `"kind": "FoundationDBRestore"`, "wait", "fdbrestore/again", "--for=done", "-o", "json")
	starts := strings.Count(strings.Join(v.ran, "\n"), "fdbrestore start")
	if starts != 1 || v.aborts() != 1 {
		t.Errorf("%d starts and %d aborts: %v", starts, v.aborts(), v.ran)
	}
	v.input = new("again\n")
	v.must(exit.ExitDone, "the restore is aborted", "restore", "abort", "again")
	if v.aborts() != 1 {
		t.Error("what was aborted is aborted again")
	}
}

func TestRestoreAbortRequiresMoreThanYes(t *testing.T) {
	tests := map[string]struct {
		args    []string // PLAN is a plan of it
		typed   string   // on a terminal; empty for none
		want    int
		says    string
		aborted bool
	}{
		"all four":                          {args: []string{"--yes", "--confirm", "again", "--plan", "PLAN", "--reason", "the wrong one"}, aborted: true},
		"without --yes":                     {args: []string{"--confirm", "again", "--plan", "PLAN", "--reason", "x"}, want: exit.ExitUnconfirmed},
		"without --confirm":                 {args: []string{"--yes", "--plan", "PLAN", "--reason", "x"}, want: exit.ExitUnconfirmed, says: "all of these flags are required: --yes --confirm NAME --plan FILE --reason TEXT"},
		"without a plan":                    {args: []string{"--yes", "--confirm", "again", "--reason", "x"}, want: exit.ExitUnconfirmed},
		"without a reason":                  {args: []string{"--yes", "--confirm", "again", "--plan", "PLAN"}, want: exit.ExitUnconfirmed},
		"with another name":                 {args: []string{"--yes", "--confirm", "sample", "--plan", "PLAN", "--reason", "x"}, want: exit.ExitUnconfirmed, says: "does not match the name of the restore, which is again"},
		"the name is typed":                 {typed: "again\n", aborted: true},
		"the name is typed for a plan":      {args: []string{"--plan", "PLAN"}, typed: "again\n", aborted: true},
		"--yes on a terminal is not enough": {args: []string{"--yes"}, typed: "y\n", want: exit.ExitUnconfirmed, says: "the answer does not match again"},
		"the cluster's name is typed":       {typed: "sample\n", want: exit.ExitUnconfirmed, says: "(nothing was changed)"},
		"a dry run needs none of it":        {args: []string{"--dry-run"}, want: exit.ExitNo, says: "data-loss"},
		"prints what it leaves before it":   {args: []string{"--dry-run"}, want: exit.ExitNo, says: "sample is unlocked with partially restored data"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := restoring(t)
			path := v.planned("restore", "abort", "again")
			args := []string{"restore", "abort", "again"}
			for _, arg := range tt.args {
				args = append(args, strings.ReplaceAll(arg, "PLAN", path))
			}
			if tt.typed != "" {
				v.input = &tt.typed
			}
			v.must(tt.want, tt.says, args...)
			if aborted := v.aborts() == 1; aborted != tt.aborted {
				t.Errorf("ran %v", v.ran)
			}
		})
	}
}

func TestWhichRestoresCannotBeAborted(t *testing.T) {
	over := v1beta2.FoundationDBRestoreStatus{State: v1beta2.RestoreStateCompleted}
	tests := map[string]struct {
		given func(*testing.T) *vault
		want  int
		says  string
	}{
		"one that was never started": {given: newVault, want: exit.ExitRefused, says: "the resource has not started its restore"},
		"one that is done": {given: func(t *testing.T) *vault {
			t.Helper()
			v := restoring(t)
			v.tool(v.t.Context(), "fdbbackup", "resume")
			v.cluster.FDB.Advance(time.Minute)
			return v
		}, want: exit.ExitRefused, says: "nothing to abort: the restore is completed"},
		"one that another record may have started": {given: func(t *testing.T) *vault {
			t.Helper()
			v := restoring(t)
			v.besides("other", v1beta2.FoundationDBRestoreStatus{Running: true, State: v1beta2.RestoreStateQueued})
			return v
		}, want: exit.ExitRefused, says: "FoundationDBRestore other may have started it"},
		"one of a record whose own is over": {given: func(t *testing.T) *vault {
			t.Helper()
			v := restoring(t)
			r := v.restore()
			r.Status = over
			if err := v.api.Status().Update(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			return v
		}, want: exit.ExitRefused, says: "the database does not list the restore of this resource"},
		"what may not be looked at": {given: func(t *testing.T) *vault {
			t.Helper()
			v := restoring(t)
			v.denied = []string{"list foundationdbrestores.apps.foundationdb.org"}
			return v
		}, want: exit.ExitForbidden, says: "list foundationdbrestores"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := tt.given(t)
			v.input = new("again\n")
			v.must(tt.want, tt.says, "restore", "abort", "again")
			if v.aborts() > 0 {
				t.Errorf("ran %v", v.ran)
			}
		})
	}
	v := restoring(t)
	v.besides("earlier", over)
	v.input = new("again\n")
	v.must(exit.ExitDone, "the restore is aborted", "restore", "abort", "again")
}

func TestRestoreAbortPrintsAChangeResultAsJSON(t *testing.T) {
	v := restoring(t)
	v.input = new("again\n")
	lines := strings.Split(strings.TrimSpace(v.must(exit.ExitDone, "", "restore", "abort", "again", "-o", "json")), "\n")
	var got ui.ChangeResult
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Reached || len(got.Targets) != 1 || got.Targets[0].Phase != "aborted" || !strings.Contains(got.Targets[0].Note, "not locked") {
		t.Errorf("got %+v", got)
	}
}

func TestAWaitForARestoreEndsWhenItIsRecreated(t *testing.T) {
	v := newVault(t)
	reads := 0
	v.record = func(e *session.Env, key types.NamespacedName) (session.Session, error) {
		if reads++; reads == 2 {
			r := v.restore()
			if err := v.api.Delete(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			r.UID, r.ResourceVersion = "another", ""
			if err := v.api.Create(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		return v.open(e, key)
	}
	v.must(exit.ExitConflict, "FoundationDBRestore again was deleted and recreated under the same name during the wait", "wait", "fdbrestore/again", "--for=done", "--timeout", "1m")
}
