package commands

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestCheckReportsProblemsOfBackups(t *testing.T) {
	runs := func(v *vault) {
		v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
		v.cluster.FDB.Advance(time.Minute)
	}
	tests := map[string]struct {
		given func(*vault)
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
			given: func(v *vault) { runs(v); v.tool(v.t.Context(), "fdbbackup", "pause") },
			want:  exit.ExitNo, says: "all agents of the database are paused, Running desired",
		},
		"a backup that was ended": {
			given: func(v *vault) { runs(v); v.tool(v.t.Context(), "fdbbackup", "abort", "-t", "default") },
			want:  exit.ExitNo, says: "no backup runs on tag default",
		},
		"a backup that is behind": {
			given: func(v *vault) {
				runs(v)
				v.tool(v.t.Context(), "fdbbackup", "pause")
				v.cluster.FDB.Advance(time.Hour)
				v.unpause()
			},
			want: exit.ExitNo, says: "BACKUP-004",
		},
		"a backup that was moved": {
			given: func(v *vault) {
				runs(v)
				v.edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration.BackupName = "weekly" })
				v.run("reconcile", "fdbbackup/nightly", "--yes")
			},
			want: exit.ExitDone, says: "BACKUP-005   warning",
		},
		"a secret in its record": {
			given: func(v *vault) {
				runs(v)
				v.edit(func(b *v1beta2.FoundationDBBackup) {
					b.Spec.BlobStoreConfiguration.AccountName = "key:" + storeSecret + "@store"
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
			v := newVault(t)
			if tt.given != nil {
				tt.given(v)
			}
			v.must(tt.want, tt.says, append([]string{"check", "sample", "--rules", "BACKUP,RESTORE"}, tt.args...)...)
		})
	}
}

// unpause has agents go on without giving them time to do anything.
func (v *vault) unpause() { v.tool(v.t.Context(), "fdbbackup", "resume") }

// aborted is a restore that was aborted manually.
func aborted(v *vault) {
	v.fdbcli("writemode on; set greeting hello")
	v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.cluster.FDB.Advance(time.Minute)
	v.fdbcli(`writemode on; clearrange "" \xff`)
	v.must(exit.ExitWaiting, "", "reconcile", "fdbrestore/again", "--yes")
	v.tool(v.t.Context(), "fdbrestore", "abort", "--dest_cluster_file", "/var/dynamic-conf/fdb.cluster", "-t", "default")
}

func TestCheckQueriesBackupAgentsOnlyIfBackupsAreChecked(t *testing.T) {
	v := newVault(t)
	v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	requested := func(args ...string) bool {
		v.ran = nil
		v.run(append([]string{"check", "sample"}, args...)...)
		return slices.ContainsFunc(v.ran, func(line string) bool { return strings.Contains(line, "fdbbackup") })
	}
	if !requested() {
		t.Error("the backup was not queried")
	}
	if requested("--rules", "VOL") {
		t.Errorf("rules about volumes had the agents asked: %v", v.ran)
	}
	b, r := &v1beta2.FoundationDBBackup{}, &v1beta2.FoundationDBRestore{}
	b.Name, b.Namespace, r.Name, r.Namespace = "nightly", "fdb", "again", "fdb"
	if err := errors.Join(v.api.Delete(t.Context(), b), v.api.Delete(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	if requested() || len(v.ran) > 0 {
		t.Errorf("without a backup something ran: %v", v.ran)
	}
}

func TestCheckReportsThatReadingBackupsIsForbidden(t *testing.T) {
	v := newVault(t)
	v.backupsHidden = apierrors.NewForbidden(schema.GroupResource{Group: "apps.foundationdb.org", Resource: "foundationdbbackups"}, "", errors.New("RBAC"))
	v.must(exit.ExitUnreachable, "rule/BACKUP-001,rule/BACKUP-002,+13                  15", "check", "sample")
	v.must(exit.ExitUnreachable, "backups could not be read: forbidden: ", "check", "sample")
	v.must(exit.ExitDone, "RBAC-001", "check", "sample", "--skip", "BACKUP=there are none", "--skip", "RESTORE=there are none")
	v.must(exit.ExitDone, "nothing found", "check", "sample", "--rules", "VOL")
	if len(v.ran) > 0 {
		t.Errorf("something ran: %v", v.ran)
	}
}

// status runs no tool: it shows backups as recorded by passes.
func TestStatusHasALineForEachBackup(t *testing.T) {
	v := newVault(t)
	v.must(exit.ExitDone, "nightly: no status; Running desired, 0 of 1 agent ready", "status", "sample", "--sections", "backups")
	v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.cluster.FDB.Advance(time.Minute)
	v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes")
	v.ran = nil
	output := v.must(exit.ExitDone, "nightly: running, restorable; Running desired, 1 of 1 agent ready", "status", "sample", "--sections", "backups")
	if !strings.Contains(output, "by their status") || !strings.Contains(output, "again: never started") || len(v.ran) > 0 {
		t.Errorf("ran %v, and printed %s", v.ran, output)
	}
	v.must(exit.ExitDone, `"restores": [`, "status", "sample", "-o", "json")
	v.backupsHidden = errors.New("no right")
	v.must(exit.ExitDone, "unknown: list FoundationDBBackups in namespace fdb: no right", "status", "sample")
	v.must(exit.ExitDone, "Healthy", "status", "sample")
}

func TestStatusOmitsTheBackupsSectionWithoutBackups(t *testing.T) {
	g := up(t)
	if code := g.run("status", "sample"); code != exit.ExitDone || strings.Contains(g.out.String(), "Backups") {
		t.Errorf("exit code %d: %s", code, &g.out)
	}
}
