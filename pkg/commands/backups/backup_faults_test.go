package backups_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// wrongCredentials has agents and tools know another secret than the store.
func wrongCredentials(v *commandstest.Vault) {
	v.Files["/credentials"] = `{"accounts":{"key@store":{"secret":"wrong"}}}`
}

// FoundationDB's tools report nothing about a store: they retry forever. The message names what
// was done, where, and what to check.
func TestABackupThatFailsToStartReportsWhatToCheck(t *testing.T) {
	unresponsive := "starting a backup on tag default: no response from the store within 45s, while the database responds; "
	tests := map[string]struct {
		given func(*commandstest.Vault)
		// first ends the run that created the agents, again the one after it.
		first, again int
		says         []string
	}{
		"an unreachable store": {
			func(v *commandstest.Vault) {
				v.Place(func(b *v1beta2.BlobStoreConfiguration) { b.AccountName = "key@nowhere" })
			},
			exit.ExitUnreachable, exit.ExitUnreachable,
			[]string{unresponsive + "blobstore://key@nowhere:443/nightly", "check spec.blobStoreConfiguration"},
		},
		"wrong credentials": {wrongCredentials, exit.ExitUnreachable, exit.ExitUnreachable, []string{unresponsive + "blobstore://key@store:443/nightly", "the files that FDB_BLOB_CREDENTIALS names in the pods of agents"}},
		"a missing bucket": {
			func(v *commandstest.Vault) { v.Place(func(b *v1beta2.BlobStoreConfiguration) { b.Bucket = "missing" }) },
			exit.ExitUnreachable, exit.ExitUnreachable,
			[]string{unresponsive, "bucket=missing", "has no such bucket"},
		},
		"no region": {
			func(v *commandstest.Vault) {
				v.Place(func(b *v1beta2.BlobStoreConfiguration) { b.URLParameters = nil })
			},
			exit.ExitPartly, exit.ExitRefused,
			[]string{"Failed to get region", "set it in spec.blobStoreConfiguration.urlParameters, as region=NAME"},
		},
		"an unknown parameter": {
			func(v *commandstest.Vault) {
				v.Place(func(b *v1beta2.BlobStoreConfiguration) { b.URLParameters = append(b.URLParameters, "nosuch=1") })
			},
			exit.ExitPartly, exit.ExitRefused,
			[]string{"Unknown URL parameter: 'nosuch'", "has a name that this version does not support"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := commandstest.NewVault(t)
			tc.given(v)
			output := v.Must(tc.first, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait", "--timeout", "3m")
			v.Must(tc.again, tc.says[0], "reconcile", "fdbbackup/nightly", "--yes", "--wait", "--timeout", "3m")
			v.Must(tc.again, tc.says[0], "backup", "start", "nightly", "--yes")
			for _, says := range tc.says {
				if !strings.Contains(output, says) {
					t.Errorf("it does not say %q: %s", says, output)
				}
			}
			v.Must(exit.ExitNo, "no backup runs on tag default", "backup", "status", "nightly")
		})
	}
}

// Once the fault is repaired the same command continues: nothing has to be reverted.
func TestABackupStartsOnceItsStoreCredentialsAreFixed(t *testing.T) {
	v := commandstest.NewVault(t)
	wrongCredentials(v)
	v.Must(exit.ExitUnreachable, "no response from the store", "reconcile", "fdbbackup/nightly", "--yes", "--wait", "--timeout", "3m")
	v.Files["/credentials"] = `{"accounts":{"key@store":{"secret":"` + commandstest.StoreSecret + `"}}}`
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait", "--timeout", "3m")
}

// A store that is lost later stops nothing at once: the backup falls behind, and the errors
// of its agents are shown.
func TestABackupThatLosesItsStoreReportsAgentErrors(t *testing.T) {
	v := commandstest.NewVault(t)
	v.Runs()
	wrongCredentials(v)
	v.Cluster.FDB.Advance(time.Hour)
	v.Must(exit.ExitNo, "agents encounter errors: 'Platform error'", "backup", "status", "nightly")
	v.Must(exit.ExitNo, "errors of agents: 'Platform error'", "check", "sample", "--rules", "BACKUP-004")
	v.Must(exit.ExitWaiting, "agents encounter errors", "wait", "fdbbackup/nightly", "--for=reconciled", "--timeout", "1m")
}

func TestARestoreThatFailsToStartReportsWhatToCheck(t *testing.T) {
	unresponsive := "starting a restore: no response from the store within 45s, while the database responds; "
	place := func(change func(*v1beta2.BlobStoreConfiguration)) func(*commandstest.Vault) {
		return func(v *commandstest.Vault) {
			v.EditRestore(func(r *v1beta2.FoundationDBRestore) { change(r.Spec.BlobStoreConfiguration) })
		}
	}
	tests := map[string]struct {
		given func(*commandstest.Vault)
		want  int
		says  []string
		// kept is true if the status records a start that may not have happened.
		kept bool
	}{
		"an unreachable store": {place(func(b *v1beta2.BlobStoreConfiguration) { b.AccountName = "key@nowhere" }), exit.ExitUnreachable, []string{unresponsive + "blobstore://key@nowhere:443/nightly"}, true},
		"wrong credentials":    {wrongCredentials, exit.ExitUnreachable, []string{unresponsive, "FDB_BLOB_CREDENTIALS"}, true},
		"a missing bucket":     {place(func(b *v1beta2.BlobStoreConfiguration) { b.Bucket = "missing" }), exit.ExitUnreachable, []string{unresponsive, "bucket=missing"}, true},
		"a place with nothing in it": {
			place(func(b *v1beta2.BlobStoreConfiguration) { b.BackupName = "nothing" }), exit.ExitRefused,
			[]string{"/nothing?", "Backup does not exist: no backup at this destination: check accountName, bucket and backupName"},
			false,
		},
		"a version not restorable": {
			func(v *commandstest.Vault) {
				v.EditRestore(func(r *v1beta2.FoundationDBRestore) { r.Spec.BackupVersion = new(uint64(7)) })
			}, exit.ExitRefused,
			[]string{"Restore version 7 is not possible from blobstore://key@store:443/nightly", "spec.backupVersion must be a version in the backup"},
			false,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := commandstest.NewVault(t)
			v.Runs()
			v.Fdbcli(`writemode on; clearrange "" \xff`)
			tc.given(v)
			output := v.Must(tc.want, "", "reconcile", "fdbrestore/again", "--yes", "--wait", "--timeout", "3m") + v.Err.String()
			for _, says := range tc.says {
				if !strings.Contains(output, says) {
					t.Errorf("it does not say %q: %s", says, output)
				}
			}
			if got := v.Fdbcli("getrangekeys a z"); strings.Contains(got, "greeting") || strings.Contains(got, "locked") {
				t.Errorf("the database is not as it was: %s", got)
			}
			status := map[bool]string{true: "the database does not list it", false: "it is not started yet"}[tc.kept]
			v.Must(exit.ExitNo, status, "restore", "status", "again")
			if tc.kept {
				v.Must(exit.ExitNo, status, "wait", "fdbrestore/again", "--for=done", "--timeout", "1m")
				return
			}
			v.Must(exit.ExitWaiting, "start it: kubectl fdb reconcile fdbrestore/again --wait", "wait", "fdbrestore/again", "--for=done", "--timeout", "1m")
		})
	}
}
