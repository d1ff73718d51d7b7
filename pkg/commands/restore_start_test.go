package commands

import (
	"strings"
	"testing"
	"time"
)

func TestARestoreIsStartedByCommand(t *testing.T) {
	full := func(t *testing.T) *vault {
		t.Helper()
		v := newVault(t)
		v.fdbcli("writemode on; set greeting hello")
		v.must(ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
		v.world.FDB.Advance(time.Minute)
		return v
	}
	empty := func(t *testing.T) *vault {
		t.Helper()
		v := full(t)
		v.fdbcli(`writemode on; clearrange "" \xff`)
		return v
	}
	done := func(t *testing.T) *vault {
		t.Helper()
		v := empty(t)
		v.must(ExitDone, "", "restore", "start", "again", "--yes", "--wait")
		return v
	}
	aborted := func(t *testing.T) *vault {
		t.Helper()
		v := restoring(t)
		v.input = new("again\n")
		v.must(ExitDone, "", "restore", "abort", "again")
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
		"begins, and says how to follow it": {given: empty, args: []string{"--yes"}, says: "the database is locked until it is done; follow it: kubectl fdb restore wait again -n fdb --context test", starts: 1},
		"waits until it is done":            {given: empty, args: []string{"--yes", "--wait"}, says: "fdbrestore/again: it is completed", starts: 1},
		"gives up in time":                  {given: func(t *testing.T) *vault { t.Helper(); v := restoring(t); return v }, args: []string{"--yes", "--wait", "--timeout", "5m"}, want: ExitWaiting, says: "the restore is queued", starts: 1},
		"what is done is not done again":    {given: done, args: []string{"--yes"}, says: "it is completed", starts: 1},
		"what was aborted is not started":   {given: aborted, args: []string{"--yes"}, want: ExitRefused, says: "delete the FoundationDBRestore and create it anew", starts: 1},
		"nothing is overwritten":            {given: full, args: []string{"--yes"}, want: ExitRefused, says: "nothing was changed, and nothing is ever restored over data", starts: 1},
		"a dry run":                         {given: empty, args: []string{"--dry-run"}, want: ExitNo, says: "data-restore"},
		"nobody agreed":                     {given: empty, want: ExitUnconfirmed, says: "--yes"},
		"without agents":                    {given: newVault, args: []string{"--yes"}, want: ExitWaiting, says: "no backup agent runs and is ready"},
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

// Somebody who is woken up types what a hint says.
func TestNoHintEmptiesADatabaseForARestore(t *testing.T) {
	v := newVault(t)
	v.fdbcli("writemode on; set greeting hello")
	v.must(ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.world.FDB.Advance(time.Minute)
	v.must(ExitRefused, `hint: see what is in it: kubectl fdb cli sample -n fdb --context test -- 'getrangekeys "" \xff 10'`, "restore", "start", "again", "--yes")
	if said := v.out.String() + v.err.String(); strings.Contains(said, "clear") || strings.Contains(said, "writemode") {
		t.Errorf("said %s", said)
	}
}
