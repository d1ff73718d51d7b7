package commands

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// overATime is a vault with a key before and one after a time, a recovery between them, and no
// data any more.
func overATime(t *testing.T) (v *vault, between time.Time) {
	t.Helper()
	v = newVault(t)
	v.runs()
	v.fdbcli("writemode on; set before there")
	v.cluster.FDB.Advance(2 * time.Minute)
	between = v.cluster.FDB.Now().UTC().Truncate(time.Second)
	v.cluster.FDB.Advance(2 * time.Second)
	v.fdbcli("writemode on; set after there")
	v.fdbcli("configure commit_proxies=4") // recovers
	v.cluster.FDB.Advance(5 * time.Minute)
	v.fdbcli(`writemode on; clearrange "" \xff`)
	v.cluster.FDB.Advance(time.Minute)
	return v, between
}

func TestRestoreAtRestoresTheDataOfATime(t *testing.T) {
	v, between := overATime(t)
	at := between.Format(time.RFC3339)
	shown := v.must(exit.ExitNo, "the version of "+at, "restore", "start", "again", "--at", at, "--dry-run")
	if !strings.Contains(shown, "earlier, and never later; restorable is ") || !strings.Contains(shown, "restore everything as of version ") {
		t.Errorf("the plan has no version, or no range: %s", shown)
	}
	v.must(exit.ExitDone, "the restore is completed", "restore", "start", "again", "--at", at, "--yes", "--wait")
	for key, want := range map[string]string{"before": "`before' is `there'", "after": "`after': not found"} {
		if got := v.fdbcli("get " + key); !strings.Contains(got, want) {
			t.Errorf("get %s: %s", key, got)
		}
	}
	r := v.restore()
	chosen, ok := plan.RestoreTimeOf(r)
	if !ok || !chosen.Time.Equal(between) || chosen.Version != *r.Spec.BackupVersion {
		t.Errorf("got %+v, %v", chosen, r.Spec.BackupVersion)
	}
	v.must(exit.ExitDone, "the restore is completed", "restore", "start", "again", "--at", at, "--yes", "--wait")
	v.must(exit.ExitRefused, "a restore is started once", "restore", "start", "again", "--at", between.Add(time.Second).Format(time.RFC3339), "--yes")
}

func TestRestoreAtStartsNothingForATimeThatIsNotRestorable(t *testing.T) {
	tests := map[string]struct {
		at    func(*vault, time.Time) string
		given func(*vault)
		want  int
		says  string
	}{
		"before the backup": {at: ago(24 * time.Hour), want: exit.ExitRefused, says: "cannot be restored: restorable is "},
		"in the future":     {at: ago(-time.Hour), want: exit.ExitRefused, says: "cannot be restored: restorable is "},
		"no time":           {at: func(*vault, time.Time) string { return "yesterday" }, want: exit.ExitUsage, says: "--at must be a time in RFC 3339"},
		"of another database": {at: ago(0), given: func(v *vault) {
			v.editRestore(func(r *v1beta2.FoundationDBRestore) { r.Spec.BlobStoreConfiguration.BackupName = "other" })
		}, want: exit.ExitRefused, says: "has no record of a backup to blobstore://key@store:443/other"},
		"without an agent yet": {at: ago(0), given: func(v *vault) {
			if err := v.api.DeleteAllOf(v.t.Context(), &corev1.Pod{}, client.InNamespace("fdb")); err != nil {
				v.t.Fatal(err)
			}
		}, want: exit.ExitWaiting, says: "no pod of a backup agent is ready"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, between := overATime(t)
			if tt.given != nil {
				tt.given(v)
			}
			v.must(tt.want, tt.says, "restore", "start", "again", "--at", tt.at(v, between), "--yes")
			if n := strings.Count(strings.Join(v.ran, "\n"), "fdbrestore start"); n != 0 || v.restore().Spec.BackupVersion != nil {
				t.Errorf("%d starts, version %v", n, v.restore().Spec.BackupVersion)
			}
		})
	}
}

func ago(d time.Duration) func(*vault, time.Time) string {
	return func(_ *vault, between time.Time) string { return between.Add(-d).Format(time.RFC3339) }
}
