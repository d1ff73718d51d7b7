package backups_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

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
