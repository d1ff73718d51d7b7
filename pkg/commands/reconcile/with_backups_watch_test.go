package reconcile_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const ofBackups = plan.Backup | plan.Restore | plan.Agents

// A new backup is looked after at once, and not after the next resync alone.
func TestAWatchReconcilesANewBackupAtOnce(t *testing.T) {
	v := vaultOfAll(t)
	all := v.Objects
	v.Objects = nil
	w := &commandstest.Watched{Given: v.Given}
	passes := 0
	w.Steps = []func(){func() {
		v.Objects = all
		passes = strings.Count(v.Out.String(), "waiting for changes")
		w.Ring(plan.Backup)
	}}
	if code := w.Run("--with-backups", "--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &v.Err)
	}
	if v.Follower.Facets&ofBackups != ofBackups {
		t.Errorf("followed %s", v.Follower.Facets)
	}
	if !strings.Contains(v.Out.String(), "create Deployment nightly-backup-agents") || passes != 1 || strings.Contains(v.Err.String(), "not allowed") {
		t.Errorf("%d passes before, got %s%s", passes, &v.Out, &v.Err)
	}
}

func TestAWatchWithoutBackupsDoesNotFollowBackups(t *testing.T) {
	v := vaultOfAll(t)
	w := &commandstest.Watched{Given: v.Given}
	if code := w.Run("--yes"); code != exit.ExitDone || v.Follower.Facets&ofBackups != 0 {
		t.Errorf("exit code %d, followed %s: %s", code, v.Follower.Facets, &v.Err)
	}
}

// The permission to watch backups is optional: a missing one is reported once, and the rest is
// watched.
func TestAWatchContinuesWithoutPermissionToWatchBackups(t *testing.T) {
	v := vaultOfAll(t)
	v.Denied = []string{"watch foundationdbrestores.apps.foundationdb.org", "list deployments.apps"}
	w := &commandstest.Watched{Given: v.Given, Steps: []func(){func() {}, func() {}}}
	if code := w.Run("--with-backups", "--yes"); code != exit.ExitDone || v.Follower.Facets&ofBackups != plan.Backup {
		t.Errorf("exit code %d, followed %s: %s", code, v.Follower.Facets, &v.Err)
	}
	const output = "some changes of backups and restores are only seen every 1m0s: not permitted to list deployments.apps, watch foundationdbrestores.apps.foundationdb.org in namespace fdb"
	if n := strings.Count(v.Err.String(), output); n != 1 {
		t.Errorf("printed %d times: %s", n, &v.Err)
	}
}
