package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestReconcileRunsABackupAndARestoreToCompletion(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Fdbcli("writemode on; set greeting hello")
	must := func(want int, says string, args ...string) {
		t.Helper()
		if got := v.Run(args...); got != want || !strings.Contains(v.Out.String()+v.Err.String(), says) {
			t.Errorf("%v: exit code %d, want %d, and %q\nstdout: %s\nstderr: %s", args, got, want, says, &v.Out, &v.Err)
		}
		if strings.Contains(v.Out.String()+v.Err.String()+strings.Join(v.Ran, "\n"), commandstest.StoreSecret) {
			t.Errorf("%v: the secret was printed or run", args)
		}
	}
	must(exit.ExitNo, "+ backup agents ", "reconcile", "fdbbackup/nightly", "--dry-run")
	must(exit.ExitDone, "start a backup on tag default", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	must(exit.ExitDone, "fdbbackup/nightly: already reconciled, no changes", "reconcile", "foundationdbbackup/nightly", "--yes")
	v.Cluster.FDB.Advance(time.Minute)
	must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "-o", "json")
	must(exit.ExitRefused, "a restore never overwrites data", "reconcile", "fdbrestore/again", "--yes")
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	must(exit.ExitDone, "the restore is completed", "reconcile", "fdbrestore/again", "--yes", "--wait")
	if got := v.Fdbcli("get greeting"); !strings.Contains(got, "hello") {
		t.Errorf("got %s", got)
	}
	v.CheckAudit()
}

func TestReconcileOfABackupOrRestoreRejectsInvalidArguments(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
		says string
	}{
		"no name":                  {[]string{"fdbbackup/", "--yes"}, exit.ExitUsage, "name is required: fdbbackup/NAME"},
		"a cluster as well":        {[]string{"fdbbackup/nightly", "-c", "sample", "--yes"}, exit.ExitUsage, "conflicts with cluster sample"},
		"--watch":                  {[]string{"fdbbackup/nightly", "--watch", "--yes"}, exit.ExitUsage, "--watch requires a cluster"},
		"--adopt":                  {[]string{"fdbrestore/again", "--adopt", "--yes"}, exit.ExitUsage, "require a cluster"},
		"a plan that is none":      {[]string{"fdbrestore/again", "--plan", "plan.json", "--yes"}, exit.ExitUsage, "invalid --plan"},
		"--confirm of a restore":   {[]string{"fdbrestore/again", "--confirm", "again", "--yes"}, exit.ExitUsage, "--confirm requires reconcile fdbbackup/NAME"},
		"--confirm of a cluster":   {[]string{"sample", "--confirm", "sample", "--yes"}, exit.ExitUsage, "--confirm requires reconcile fdbbackup/NAME"},
		"another name":             {[]string{"fdbbackup/nightly", "--confirm", "weekly", "--yes"}, exit.ExitUnconfirmed, "--confirm weekly does not match the name of the backup"},
		"a step of a cluster":      {[]string{"fdbbackup/nightly", "--only", "AddPods", "--yes"}, exit.ExitUsage, "must be one of CarryOutDeletion, UpdateBackupStatus"},
		"not approved":             {[]string{"fdbbackup/nightly"}, exit.ExitUnconfirmed, "--yes"},
		"a backup unknown":         {[]string{"fdbbackup/other", "--yes"}, exit.ExitUsage, "FoundationDBBackup other not found in namespace fdb"},
		"a restore without agents": {[]string{"fdbrestore/again", "--yes"}, exit.ExitWaiting, "no pod of a backup agent is ready"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := commandstest.NewVault(t)
			if got := v.Run(append([]string{"reconcile"}, tt.args...)...); got != tt.want || !strings.Contains(v.Out.String()+v.Err.String(), tt.says) {
				t.Errorf("exit code %d, want %d, and %q\nstdout: %s\nstderr: %s", got, tt.want, tt.says, &v.Out, &v.Err)
			}
		})
	}
}

func TestAMissingPermissionIsReportedBeforeABackupIsChanged(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Denied = []string{"create deployments.apps"}
	if got := v.Run("reconcile", "fdbbackup/nightly", "--yes"); got != exit.ExitForbidden || !strings.Contains(v.Err.String(), "create deployments.apps (nothing was changed)") {
		t.Errorf("exit code %d: %s", got, &v.Err)
	}
	if len(backup.Backup()) == 0 || len(v.Ran) > 0 {
		t.Errorf("ran %v", v.Ran)
	}
}
