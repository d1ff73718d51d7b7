package commands

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const ofBackups = plan.Backup | plan.Restore | plan.Agents

// A new backup is looked after at once, and not after the next resync alone.
func TestAWatchReconcilesANewBackupAtOnce(t *testing.T) {
	v := vaultOfAll(t)
	all := v.objects
	v.objects = nil
	w := &watched{given: v.given}
	passes := 0
	w.steps = []func(){func() {
		v.objects = all
		passes = strings.Count(v.out.String(), "waiting for changes")
		w.ring(plan.Backup)
	}}
	if code := w.run("--with-backups", "--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s", code, &v.err)
	}
	if v.follower.facets&ofBackups != ofBackups {
		t.Errorf("followed %s", v.follower.facets)
	}
	if !strings.Contains(v.out.String(), "create Deployment nightly-backup-agents") || passes != 1 || strings.Contains(v.err.String(), "not allowed") {
		t.Errorf("%d passes before, got %s%s", passes, &v.out, &v.err)
	}
}

func TestAWatchWithoutBackupsDoesNotFollowBackups(t *testing.T) {
	v := vaultOfAll(t)
	w := &watched{given: v.given}
	if code := w.run("--yes"); code != exit.ExitDone || v.follower.facets&ofBackups != 0 {
		t.Errorf("exit code %d, followed %s: %s", code, v.follower.facets, &v.err)
	}
}

// The permission to watch backups is optional: a missing one is reported once, and the rest is
// watched.
func TestAWatchContinuesWithoutPermissionToWatchBackups(t *testing.T) {
	v := vaultOfAll(t)
	v.denied = []string{"watch foundationdbrestores.apps.foundationdb.org", "list deployments.apps"}
	w := &watched{given: v.given, steps: []func(){func() {}, func() {}}}
	if code := w.run("--with-backups", "--yes"); code != exit.ExitDone || v.follower.facets&ofBackups != plan.Backup {
		t.Errorf("exit code %d, followed %s: %s", code, v.follower.facets, &v.err)
	}
	const output = "some changes of backups and restores are only seen every 1m0s: not permitted to list deployments.apps, watch foundationdbrestores.apps.foundationdb.org in namespace fdb"
	if n := strings.Count(v.err.String(), output); n != 1 {
		t.Errorf("printed %d times: %s", n, &v.err)
	}
}
