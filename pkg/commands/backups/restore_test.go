package backups_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestAnAbortedRestoreUnlocksTheDatabaseAndNeverRestarts(t *testing.T) {
	v := commandstest.Restoring(t)
	v.Input = new("again\n")
	output := v.Must(exit.ExitDone, "Type the name of the restore", "restore", "abort", "again")
	for _, want := range []string{"fdbrestore/again: the restore is aborted and will not continue", "the database is not locked: clients can read and write it"} {
		if !strings.Contains(output, want) {
			t.Errorf("want %q in %s", want, output)
		}
	}
	if s := v.Restore().Status; s.State != v1beta2.RestoreStateAborted || s.Running {
		t.Errorf("the status is %+v", s)
	}
	v.Fdbcli("writemode on; set x y") // the database is not locked
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	v.Input = nil
	v.Must(exit.ExitRefused, "it is never started again", "reconcile", "fdbrestore/again", "--yes")
	v.Must(exit.ExitNo, "it was aborted, which unlocked the database", "restore", "status", "again")
	v.Must(exit.ExitNo, "aborted", "wait", "fdbrestore/again", "--for=done")
	v.Must(exit.ExitNo, "foundationdbrestore/again", "wait", "fdbrestore/again", "--for=done", "-o", "name")
	v.Must(exit.ExitNo, `"kind": "FoundationDBRestore"`, "wait", "fdbrestore/again", "--for=done", "-o", "json")
	starts := strings.Count(strings.Join(v.Ran, "\n"), "fdbrestore start")
	if starts != 1 || v.Aborts() != 1 {
		t.Errorf("%d starts and %d aborts: %v", starts, v.Aborts(), v.Ran)
	}
	v.Input = new("again\n")
	v.Must(exit.ExitDone, "the restore is aborted", "restore", "abort", "again")
	if v.Aborts() != 1 {
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
			v := commandstest.Restoring(t)
			path := v.Planned("restore", "abort", "again")
			args := []string{"restore", "abort", "again"}
			for _, arg := range tt.args {
				args = append(args, strings.ReplaceAll(arg, "PLAN", path))
			}
			if tt.typed != "" {
				v.Input = &tt.typed
			}
			v.Must(tt.want, tt.says, args...)
			if aborted := v.Aborts() == 1; aborted != tt.aborted {
				t.Errorf("ran %v", v.Ran)
			}
		})
	}
}

func TestWhichRestoresCannotBeAborted(t *testing.T) {
	over := v1beta2.FoundationDBRestoreStatus{State: v1beta2.RestoreStateCompleted}
	tests := map[string]struct {
		given func(*testing.T) *commandstest.Vault
		want  int
		says  string
	}{
		"one that was never started": {given: commandstest.NewVault, want: exit.ExitRefused, says: "the resource has not started its restore"},
		"one that is done": {given: func(t *testing.T) *commandstest.Vault {
			t.Helper()
			v := commandstest.Restoring(t)
			v.Tool(v.T.Context(), "fdbbackup", "resume")
			v.Cluster.FDB.Advance(time.Minute)
			return v
		}, want: exit.ExitRefused, says: "nothing to abort: the restore is completed"},
		"one that another record may have started": {given: func(t *testing.T) *commandstest.Vault {
			t.Helper()
			v := commandstest.Restoring(t)
			v.Besides("other", v1beta2.FoundationDBRestoreStatus{Running: true, State: v1beta2.RestoreStateQueued})
			return v
		}, want: exit.ExitRefused, says: "FoundationDBRestore other may have started it"},
		"one of a record whose own is over": {given: func(t *testing.T) *commandstest.Vault {
			t.Helper()
			v := commandstest.Restoring(t)
			r := v.Restore()
			r.Status = over
			if err := v.API.Status().Update(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			return v
		}, want: exit.ExitRefused, says: "the database does not list the restore of this resource"},
		"what may not be looked at": {given: func(t *testing.T) *commandstest.Vault {
			t.Helper()
			v := commandstest.Restoring(t)
			v.Denied = []string{"list foundationdbrestores.apps.foundationdb.org"}
			return v
		}, want: exit.ExitForbidden, says: "list foundationdbrestores"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := tt.given(t)
			v.Input = new("again\n")
			v.Must(tt.want, tt.says, "restore", "abort", "again")
			if v.Aborts() > 0 {
				t.Errorf("ran %v", v.Ran)
			}
		})
	}
	v := commandstest.Restoring(t)
	v.Besides("earlier", over)
	v.Input = new("again\n")
	v.Must(exit.ExitDone, "the restore is aborted", "restore", "abort", "again")
}

func TestRestoreAbortPrintsAChangeResultAsJSON(t *testing.T) {
	v := commandstest.Restoring(t)
	v.Input = new("again\n")
	lines := strings.Split(strings.TrimSpace(v.Must(exit.ExitDone, "", "restore", "abort", "again", "-o", "json")), "\n")
	var got inspect.ChangeResult
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Reached || len(got.Targets) != 1 || got.Targets[0].Phase != "aborted" || !strings.Contains(got.Targets[0].Note, "not locked") {
		t.Errorf("got %+v", got)
	}
}

func TestAWaitForARestoreEndsWhenItIsRecreated(t *testing.T) {
	v := commandstest.NewVault(t)
	reads := 0
	v.Record = func(e *session.Env, key types.NamespacedName) (session.Session, error) {
		if reads++; reads == 2 {
			r := v.Restore()
			if err := v.API.Delete(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			r.UID, r.ResourceVersion = "another", ""
			if err := v.API.Create(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		return v.Open(e, key)
	}
	v.Must(exit.ExitConflict, "FoundationDBRestore again was deleted and recreated under the same name during the wait", "wait", "fdbrestore/again", "--for=done", "--timeout", "1m")
}

func TestARestoreIsStartedByCommand(t *testing.T) {
	done := func(t *testing.T) *commandstest.Vault {
		t.Helper()
		v := commandstest.Restorable(t)
		v.Must(exit.ExitDone, "", "restore", "start", "again", "--yes", "--wait")
		return v
	}
	aborted := func(t *testing.T) *commandstest.Vault {
		t.Helper()
		v := commandstest.Restoring(t)
		v.Input = new("again\n")
		v.Must(exit.ExitDone, "", "restore", "abort", "again")
		v.Input = nil
		return v
	}
	tests := map[string]struct {
		given  func(*testing.T) *commandstest.Vault
		args   []string
		want   int
		says   string
		starts int
	}{
		"begins, and prints how to follow it": {given: commandstest.Restorable, args: []string{"--yes"}, says: "the database is locked until it completes; show its progress: kubectl fdb restore status again -w -n fdb --context test", starts: 1},
		"waits until it is done":              {given: commandstest.Restorable, args: []string{"--yes", "--wait"}, says: "fdbrestore/again: the restore is completed", starts: 1},
		"gives up in time":                    {given: func(t *testing.T) *commandstest.Vault { t.Helper(); v := commandstest.Restoring(t); return v }, args: []string{"--yes", "--wait", "--timeout", "5m"}, want: exit.ExitWaiting, says: "the restore is queued", starts: 1},
		"what is done is not done again":      {given: done, args: []string{"--yes"}, says: "the restore is completed", starts: 1},
		"what was aborted is not started":     {given: aborted, args: []string{"--yes"}, want: exit.ExitRefused, says: "delete the FoundationDBRestore and create it again", starts: 1},
		"nothing is overwritten":              {given: commandstest.WithData, args: []string{"--yes"}, want: exit.ExitRefused, says: "a restore never overwrites data: restore into a cluster without data"},
		"a dry run over data":                 {given: commandstest.WithData, args: []string{"--dry-run"}, want: exit.ExitNo, says: "G-RESTORE"},
		"a dry run":                           {given: commandstest.Restorable, args: []string{"--dry-run"}, want: exit.ExitNo, says: "data-restore"},
		"not approved":                        {given: commandstest.Restorable, want: exit.ExitUnconfirmed, says: "--yes"},
		"without agents":                      {given: commandstest.NewVault, args: []string{"--yes"}, want: exit.ExitWaiting, says: "no pod of a backup agent is ready"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := tt.given(t)
			v.Must(tt.want, tt.says, append([]string{"restore", "start", "again"}, tt.args...)...)
			if n := strings.Count(strings.Join(v.Ran, "\n"), "fdbrestore start"); n != tt.starts {
				t.Errorf("%d starts: %v", n, v.Ran)
			}
		})
	}
}

// The restore before stays listed. A start that was lost is not taken for it, whatever the
// command was about.
func TestACompletedEarlierRestoreIsNotMistakenForANewOne(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Runs()
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	v.Must(exit.ExitDone, "the restore is completed", "restore", "start", "again", "--yes", "--wait")
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	v.MakeRestoreAnew()
	wrongCredentials(v)
	v.Must(exit.ExitUnreachable, "no response from the store", "restore", "start", "again", "--yes")
	v.Must(exit.ExitNo, "the database does not list it", "restore", "status", "again")
	v.Must(exit.ExitRefused, "inspect the data", "restore", "start", "again", "--yes", "--wait")
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
	locked := func(v *commandstest.Vault) {
		v.Fdbcli(`writemode on; option on ACCESS_SYSTEM_KEYS; set \xff/dbLocked 0123456789012345678901234567`)
	}
	tests := map[string]struct {
		given func(*commandstest.Vault)
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
			v := commandstest.NewVault(t)
			v.Runs()
			if tt.given != nil {
				tt.given(v)
			}
			v.Ran = nil
			v.Must(tt.want, tt.says, tt.args...)
			if output := v.Out.String() + v.Err.String(); strings.Contains(output, "ready") || strings.Contains(output, "clearrange") {
				t.Errorf("got %s", output)
			}
			if ran := strings.Join(v.Ran, "\n"); strings.Contains(ran, "fdbrestore start") || !strings.Contains(ran, "getrangekeys") {
				t.Errorf("ran %s", ran)
			}
		})
	}
}

// On-call users type what a hint shows.
func TestRestoreHintsNeverClearTheDatabase(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Fdbcli("writemode on; set greeting hello")
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
	v.Must(exit.ExitRefused, `hint: show the data: kubectl fdb cli sample -n fdb --context test -- 'getrangekeys "" \xff 10'`, "restore", "start", "again", "--yes")
	if output := v.Out.String() + v.Err.String(); strings.Contains(output, "clear") || strings.Contains(output, "writemode") {
		t.Errorf("got %s", output)
	}
}
