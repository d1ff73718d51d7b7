package commands

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// withData is a vault with a backup of data that is still there.
func withData(t *testing.T) *vault {
	t.Helper()
	v := newVault(t)
	v.fdbcli("writemode on; set greeting hello")
	v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.cluster.FDB.Advance(time.Minute)
	return v
}

// restorable is one whose data was deleted since.
func restorable(t *testing.T) *vault {
	t.Helper()
	v := withData(t)
	v.fdbcli(`writemode on; clearrange "" \xff`)
	return v
}

func TestARestoreIsStartedByCommand(t *testing.T) {
	done := func(t *testing.T) *vault {
		t.Helper()
		v := restorable(t)
		v.must(exit.ExitDone, "", "restore", "start", "again", "--yes", "--wait")
		return v
	}
	aborted := func(t *testing.T) *vault {
		t.Helper()
		v := restoring(t)
		v.input = new("again\n")
		v.must(exit.ExitDone, "", "restore", "abort", "again")
		v.input = nil
		return v
	}
	tests := map[string]struct {
		given  func(*testing.T) *vault
		args   []string
		want   int
		says   string
		starts int
	}{
		"begins, and prints how to follow it": {given: restorable, args: []string{"--yes"}, says: "the database is locked until it completes; show its progress: kubectl fdb restore status again -w -n fdb --context test", starts: 1},
		"waits until it is done":              {given: restorable, args: []string{"--yes", "--wait"}, says: "fdbrestore/again: the restore is completed", starts: 1},
		"gives up in time":                    {given: func(t *testing.T) *vault { t.Helper(); v := restoring(t); return v }, args: []string{"--yes", "--wait", "--timeout", "5m"}, want: exit.ExitWaiting, says: "the restore is queued", starts: 1},
		"what is done is not done again":      {given: done, args: []string{"--yes"}, says: "the restore is completed", starts: 1},
		"what was aborted is not started":     {given: aborted, args: []string{"--yes"}, want: exit.ExitRefused, says: "delete the FoundationDBRestore and create it again", starts: 1},
		"nothing is overwritten":              {given: withData, args: []string{"--yes"}, want: exit.ExitRefused, says: "a restore never overwrites data: restore into a cluster without data"},
		"a dry run over data":                 {given: withData, args: []string{"--dry-run"}, want: exit.ExitNo, says: "G-RESTORE"},
		"a dry run":                           {given: restorable, args: []string{"--dry-run"}, want: exit.ExitNo, says: "data-restore"},
		"not approved":                        {given: restorable, want: exit.ExitUnconfirmed, says: "--yes"},
		"without agents":                      {given: newVault, args: []string{"--yes"}, want: exit.ExitWaiting, says: "no pod of a backup agent is ready"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := tt.given(t)
			v.must(tt.want, tt.says, append([]string{"restore", "start", "again"}, tt.args...)...)
			if n := strings.Count(strings.Join(v.ran, "\n"), "fdbrestore start"); n != tt.starts {
				t.Errorf("%d starts: %v", n, v.ran)
			}
		})
	}
}

// The restore before stays listed. A start that was lost is not taken for it, whatever the
// command was about.
func TestACompletedEarlierRestoreIsNotMistakenForANewOne(t *testing.T) {
	v := newVault(t)
	v.runs()
	v.fdbcli(`writemode on; clearrange "" \xff`)
	v.must(exit.ExitDone, "the restore is completed", "restore", "start", "again", "--yes", "--wait")
	v.fdbcli(`writemode on; clearrange "" \xff`)
	v.makeRestoreAnew()
	wrongCredentials(v)
	v.must(exit.ExitUnreachable, "no response from the store", "restore", "start", "again", "--yes")
	v.must(exit.ExitNo, "the database does not list it", "restore", "status", "again")
	v.must(exit.ExitRefused, "inspect the data", "restore", "start", "again", "--yes", "--wait")
}

// makeRestoreAnew deletes the resource and creates it again.
func (v *vault) makeRestoreAnew() {
	v.t.Helper()
	old := v.restore()
	fresh := &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: old.Name, Namespace: old.Namespace, UID: "another"}, Spec: old.Spec}
	if err := errors.Join(v.api.Delete(v.t.Context(), old), v.api.Create(v.t.Context(), fresh)); err != nil {
		v.t.Fatal(err)
	}
}

// What a command is about may be there already: that hides nothing that a pass failed at, or
// was refused.
func TestAReachedTargetDoesNotHideAFailedPass(t *testing.T) {
	tests := map[string]struct {
		outcome reconcile.Outcome
		want    int
	}{
		"what a pass waits for is no failure": {reconcile.Waiting, exit.ExitDone},
		"a pass with nothing left":            {reconcile.Done, exit.ExitDone},
		"a pass that failed":                  {reconcile.Failed, exit.ExitInternal},
		"a pass that was refused":             {reconcile.Blocked, exit.ExitRefused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := apply.Passes{}
			p.Reached, p.Last.Outcome = true, tt.outcome
			p.Env = &session.Env{}
			if got := exit.Code(p.Verdict()); got != tt.want {
				t.Errorf("exit %d, want %d", got, tt.want)
			}
		})
	}
}

// A restore that would be refused is not called ready, and no command that only reads starts
// it.
func TestReadCommandsReportARestoreTargetThatHasDataOrIsLocked(t *testing.T) {
	locked := func(v *vault) {
		v.fdbcli(`writemode on; option on ACCESS_SYSTEM_KEYS; set \xff/dbLocked 0123456789012345678901234567`)
	}
	tests := map[string]struct {
		given func(*vault)
		args  []string
		want  int
		says  string
	}{
		"why":                             {args: []string{"why", "fdbrestore/again"}, want: exit.ExitNo, says: "the database of cluster sample holds data"},
		"why, and the gate":               {args: []string{"why", "fdbrestore/again", "-o", "wide"}, want: exit.ExitNo, says: "G-RESTORE"},
		"plan":                            {args: []string{"plan", "fdbrestore/again"}, want: exit.ExitNo, says: "G-RESTORE"},
		"a dry run of reconcile":          {args: []string{"reconcile", "fdbrestore/again", "--dry-run"}, want: exit.ExitNo, says: "the database of cluster sample holds data"},
		"a dry run of restore":            {args: []string{"restore", "start", "again", "--dry-run"}, want: exit.ExitNo, says: "the database of cluster sample holds data"},
		"why, of a locked database":       {given: locked, args: []string{"why", "fdbrestore/again"}, want: exit.ExitNo, says: "another lock has to be released first"},
		"a dry run, of a locked database": {given: locked, args: []string{"restore", "start", "again", "--dry-run"}, want: exit.ExitNo, says: "Database is locked"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := newVault(t)
			v.runs()
			if tt.given != nil {
				tt.given(v)
			}
			v.ran = nil
			v.must(tt.want, tt.says, tt.args...)
			if output := v.out.String() + v.err.String(); strings.Contains(output, "ready") || strings.Contains(output, "clearrange") {
				t.Errorf("got %s", output)
			}
			if ran := strings.Join(v.ran, "\n"); strings.Contains(ran, "fdbrestore start") || !strings.Contains(ran, "getrangekeys") {
				t.Errorf("ran %s", ran)
			}
		})
	}
}

// On-call users type what a hint shows.
func TestRestoreHintsNeverClearTheDatabase(t *testing.T) {
	v := newVault(t)
	v.fdbcli("writemode on; set greeting hello")
	v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.cluster.FDB.Advance(time.Minute)
	v.must(exit.ExitRefused, `hint: show the data: kubectl fdb cli sample -n fdb --context test -- 'getrangekeys "" \xff 10'`, "restore", "start", "again", "--yes")
	if output := v.out.String() + v.err.String(); strings.Contains(output, "clear") || strings.Contains(output, "writemode") {
		t.Errorf("got %s", output)
	}
}
