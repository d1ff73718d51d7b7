package diagnose_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestCheckReportsProblemsOfBackups(t *testing.T) {
	runs := func(v *commandstest.Vault) {
		v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
		v.Cluster.FDB.Advance(time.Minute)
	}
	tests := map[string]struct {
		given func(*commandstest.Vault)
		args  []string
		want  int
		says  string
	}{
		"a backup that runs": {given: runs, want: exit.ExitDone, says: "nothing found"},
		"a backup without agents": {
			want: exit.ExitNo, says: "BACKUP-001   error         foundationdbbackup/nightly",
		},
		"and what it means for the rest": {want: exit.ExitNo, says: "no pod of a backup agent is ready"},
		"agents that a user paused": {
			given: func(v *commandstest.Vault) { runs(v); v.Tool(v.T.Context(), "fdbbackup", "pause") },
			want:  exit.ExitNo, says: "all agents of the database are paused, Running desired",
		},
		"a backup that was ended": {
			given: func(v *commandstest.Vault) { runs(v); v.Tool(v.T.Context(), "fdbbackup", "abort", "-t", "default") },
			want:  exit.ExitNo, says: "no backup runs on tag default",
		},
		"a backup that is behind": {
			given: func(v *commandstest.Vault) {
				runs(v)
				v.Tool(v.T.Context(), "fdbbackup", "pause")
				v.Cluster.FDB.Advance(time.Hour)
				v.Unpause()
			},
			want: exit.ExitNo, says: "BACKUP-004",
		},
		"a backup that was moved": {
			given: func(v *commandstest.Vault) {
				runs(v)
				v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.BackupName = "weekly" })
				v.Run("reconcile", "fdbbackup/nightly", "--yes")
			},
			want: exit.ExitDone, says: "BACKUP-005   warning",
		},
		"a secret in its record": {
			given: func(v *commandstest.Vault) {
				runs(v)
				v.Edit(func(b *v1beta2.FoundationDBBackup) {
					b.Spec.BlobStoreConfiguration.AccountName = "key:" + commandstest.StoreSecret + "@store"
				})
			},
			want: exit.ExitNo, says: "BACKUP-012",
		},
		"a restore that was aborted": {given: aborted, want: exit.ExitNo, says: "it was aborted, which unlocked the database"},
		"as JUnit":                   {args: []string{"-o", "junit"}, want: exit.ExitNo, says: `name="BACKUP-001`},
		"left out":                   {args: []string{"--skip", "BACKUP=there is another", "--skip", "RESTORE"}, want: exit.ExitDone, says: ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := commandstest.NewVault(t)
			if tt.given != nil {
				tt.given(v)
			}
			v.Must(tt.want, tt.says, append([]string{"check", "sample", "--rules", "BACKUP,RESTORE"}, tt.args...)...)
		})
	}
}

// aborted is a restore that was aborted manually.
func aborted(v *commandstest.Vault) {
	v.Fdbcli("writemode on; set greeting hello")
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	v.Must(exit.ExitWaiting, "", "reconcile", "fdbrestore/again", "--yes")
	v.Tool(v.T.Context(), "fdbrestore", "abort", "--dest_cluster_file", "/var/dynamic-conf/fdb.cluster", "-t", "default")
}

func TestCheckQueriesBackupAgentsOnlyIfBackupsAreChecked(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	requested := func(args ...string) bool {
		v.Ran = nil
		v.Run(append([]string{"check", "sample"}, args...)...)
		return slices.ContainsFunc(v.Ran, func(line string) bool { return strings.Contains(line, "fdbbackup") })
	}
	if !requested() {
		t.Error("the backup was not queried")
	}
	if requested("--rules", "VOL") {
		t.Errorf("rules about volumes had the agents asked: %v", v.Ran)
	}
	b, r := &v1beta2.FoundationDBBackup{}, &v1beta2.FoundationDBRestore{}
	b.Name, b.Namespace, r.Name, r.Namespace = "nightly", "fdb", "again", "fdb"
	if err := errors.Join(v.API.Delete(t.Context(), b), v.API.Delete(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	if requested() || len(v.Ran) > 0 {
		t.Errorf("without a backup something ran: %v", v.Ran)
	}
}

func TestCheckReportsThatReadingBackupsIsForbidden(t *testing.T) {
	v := commandstest.NewVault(t)
	v.BackupsHidden = apierrors.NewForbidden(schema.GroupResource{Group: "apps.foundationdb.org", Resource: "foundationdbbackups"}, "", errors.New("RBAC"))
	v.Must(exit.ExitUnreachable, "rule/BACKUP-001,rule/BACKUP-002,+13                  15", "check", "sample")
	v.Must(exit.ExitUnreachable, "backups could not be read: forbidden: ", "check", "sample")
	v.Must(exit.ExitDone, "RBAC-001", "check", "sample", "--skip", "BACKUP=there are none", "--skip", "RESTORE=there are none")
	v.Must(exit.ExitDone, "nothing found", "check", "sample", "--rules", "VOL")
	if len(v.Ran) > 0 {
		t.Errorf("something ran: %v", v.Ran)
	}
}

// status runs no tool: it shows backups as recorded by passes.
func TestStatusHasALineForEachBackup(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Must(exit.ExitDone, "nightly: no status; Running desired, 0 of 1 agent ready", "status", "sample", "--sections", "backups")
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes")
	v.Ran = nil
	output := v.Must(exit.ExitDone, "nightly: running, restorable; Running desired, 1 of 1 agent ready", "status", "sample", "--sections", "backups")
	if !strings.Contains(output, "by their status") || !strings.Contains(output, "again: never started") || len(v.Ran) > 0 {
		t.Errorf("ran %v, and printed %s", v.Ran, output)
	}
	v.Must(exit.ExitDone, `"restores": [`, "status", "sample", "-o", "json")
	v.BackupsHidden = errors.New("no right")
	v.Must(exit.ExitDone, "unknown: list FoundationDBBackups in namespace fdb: no right", "status", "sample")
	v.Must(exit.ExitDone, "Healthy", "status", "sample")
}

func TestStatusOmitsTheBackupsSectionWithoutBackups(t *testing.T) {
	g := commandstest.Up(t)
	if code := g.Run("status", "sample"); code != exit.ExitDone || strings.Contains(g.Out.String(), "Backups") {
		t.Errorf("exit code %d: %s", code, &g.Out)
	}
}
