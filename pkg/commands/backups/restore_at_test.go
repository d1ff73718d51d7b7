package backups_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// overATime is a vault with a key before and one after a time, a recovery between them, and no
// data any more.
func overATime(t *testing.T) (v *commandstest.Vault, between time.Time) {
	t.Helper()
	v = commandstest.NewVault(t)
	v.Runs()
	v.Fdbcli("writemode on; set before there")
	v.Cluster.FDB.Advance(2 * time.Minute)
	between = v.Cluster.FDB.Now().UTC().Truncate(time.Second)
	v.Cluster.FDB.Advance(2 * time.Second)
	v.Fdbcli("writemode on; set after there")
	v.Fdbcli("configure commit_proxies=4") // recovers
	v.Cluster.FDB.Advance(5 * time.Minute)
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	v.Cluster.FDB.Advance(time.Minute)
	return v, between
}

func TestRestoreAtRestoresTheDataOfATime(t *testing.T) {
	v, between := overATime(t)
	at := between.Format(time.RFC3339)
	shown := v.Must(exit.ExitNo, "the version of "+at, "restore", "start", "again", "--at", at, "--dry-run")
	if !strings.Contains(shown, "earlier, and never later; restorable is ") || !strings.Contains(shown, "restore everything as of version ") {
		t.Errorf("the plan has no version, or no range: %s", shown)
	}
	v.Must(exit.ExitDone, "the restore is completed", "restore", "start", "again", "--at", at, "--yes", "--wait")
	for key, want := range map[string]string{"before": "`before' is `there'", "after": "`after': not found"} {
		if got := v.Fdbcli("get " + key); !strings.Contains(got, want) {
			t.Errorf("get %s: %s", key, got)
		}
	}
	r := v.Restore()
	chosen, ok := plan.RestoreTimeOf(r)
	if !ok || !chosen.Time.Equal(between) || chosen.Version != *r.Spec.BackupVersion {
		t.Errorf("got %+v, %v", chosen, r.Spec.BackupVersion)
	}
	v.Must(exit.ExitDone, "the restore is completed", "restore", "start", "again", "--at", at, "--yes", "--wait")
	v.Must(exit.ExitRefused, "a restore is started once", "restore", "start", "again", "--at", between.Add(time.Second).Format(time.RFC3339), "--yes")
}

func TestRestoreAtStartsNothingForATimeThatIsNotRestorable(t *testing.T) {
	tests := map[string]struct {
		at    func(*commandstest.Vault, time.Time) string
		given func(*commandstest.Vault)
		want  int
		says  string
	}{
		"before the backup": {at: ago(24 * time.Hour), want: exit.ExitRefused, says: "cannot be restored: restorable is "},
		"in the future":     {at: ago(-time.Hour), want: exit.ExitRefused, says: "cannot be restored: restorable is "},
		"no time":           {at: func(*commandstest.Vault, time.Time) string { return "yesterday" }, want: exit.ExitUsage, says: "--at must be a time in RFC 3339"},
		"of another database": {at: ago(0), given: func(v *commandstest.Vault) {
			v.EditRestore(func(r *v1beta2.FoundationDBRestore) { r.Spec.BlobStoreConfiguration.BackupName = "other" })
		}, want: exit.ExitRefused, says: "has no record of a backup to blobstore://key@store:443/other"},
		"without an agent yet": {at: ago(0), given: func(v *commandstest.Vault) {
			if err := v.API.DeleteAllOf(v.T.Context(), &corev1.Pod{}, client.InNamespace("fdb")); err != nil {
				v.T.Fatal(err)
			}
		}, want: exit.ExitWaiting, says: "no pod of a backup agent is ready"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, between := overATime(t)
			if tt.given != nil {
				tt.given(v)
			}
			v.Must(tt.want, tt.says, "restore", "start", "again", "--at", tt.at(v, between), "--yes")
			if n := strings.Count(strings.Join(v.Ran, "\n"), "fdbrestore start"); n != 0 || v.Restore().Spec.BackupVersion != nil {
				t.Errorf("%d starts, version %v", n, v.Restore().Spec.BackupVersion)
			}
		})
	}
}

func ago(d time.Duration) func(*commandstest.Vault, time.Time) string {
	return func(_ *commandstest.Vault, between time.Time) string { return between.Add(-d).Format(time.RFC3339) }
}
