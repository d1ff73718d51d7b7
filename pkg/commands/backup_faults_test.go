package commands

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// editRestore changes the restore like a user.
func (v *vault) editRestore(change func(*v1beta2.FoundationDBRestore)) {
	v.t.Helper()
	r := &v1beta2.FoundationDBRestore{}
	if err := v.api.Get(v.t.Context(), types.NamespacedName{Namespace: "fdb", Name: "again"}, r); err != nil {
		v.t.Fatal(err)
	}
	change(r)
	if err := v.api.Update(v.t.Context(), r); err != nil {
		v.t.Fatal(err)
	}
}

func (v *vault) place(change func(*v1beta2.BlobStoreConfiguration)) {
	v.t.Helper()
	v.edit(func(b *v1beta2.FoundationDBBackup) { change(b.Spec.BlobStoreConfiguration) })
	v.editRestore(func(r *v1beta2.FoundationDBRestore) { change(r.Spec.BlobStoreConfiguration) })
}

// wrongCredentials has agents and tools know another secret than the store.
func wrongCredentials(v *vault) {
	v.files["/credentials"] = `{"accounts":{"key@store":{"secret":"wrong"}}}`
}

// runs has the backup run, and be restorable.
func (v *vault) runs() {
	v.t.Helper()
	v.fdbcli("writemode on; set greeting hello")
	v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.cluster.FDB.Advance(time.Minute)
}

// FoundationDB's tools report nothing about a store: they retry forever. The message names what
// was done, where, and what to check.
func TestABackupThatFailsToStartReportsWhatToCheck(t *testing.T) {
	unresponsive := "starting a backup on tag default: no response from the store within 45s, while the database responds; "
	tests := map[string]struct {
		given func(*vault)
		// first ends the run that created the agents, again the one after it.
		first, again int
		says         []string
	}{
		"an unreachable store": {
			func(v *vault) { v.place(func(b *v1beta2.BlobStoreConfiguration) { b.AccountName = "key@nowhere" }) },
			exit.ExitUnreachable, exit.ExitUnreachable,
			[]string{unresponsive + "blobstore://key@nowhere:443/nightly", "check spec.blobStoreConfiguration"},
		},
		"wrong credentials": {wrongCredentials, exit.ExitUnreachable, exit.ExitUnreachable, []string{unresponsive + "blobstore://key@store:443/nightly", "the files that FDB_BLOB_CREDENTIALS names in the pods of agents"}},
		"a missing bucket": {
			func(v *vault) { v.place(func(b *v1beta2.BlobStoreConfiguration) { b.Bucket = "missing" }) },
			exit.ExitUnreachable, exit.ExitUnreachable,
			[]string{unresponsive, "bucket=missing", "has no such bucket"},
		},
		"no region": {
			func(v *vault) { v.place(func(b *v1beta2.BlobStoreConfiguration) { b.URLParameters = nil }) },
			exit.ExitPartly, exit.ExitRefused,
			[]string{"Failed to get region", "set it in spec.blobStoreConfiguration.urlParameters, as region=NAME"},
		},
		"an unknown parameter": {
			func(v *vault) {
				v.place(func(b *v1beta2.BlobStoreConfiguration) { b.URLParameters = append(b.URLParameters, "nosuch=1") })
			},
			exit.ExitPartly, exit.ExitRefused,
			[]string{"Unknown URL parameter: 'nosuch'", "has a name that this version does not support"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := newVault(t)
			tc.given(v)
			output := v.must(tc.first, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait", "--timeout", "3m")
			v.must(tc.again, tc.says[0], "reconcile", "fdbbackup/nightly", "--yes", "--wait", "--timeout", "3m")
			v.must(tc.again, tc.says[0], "backup", "start", "nightly", "--yes")
			for _, says := range tc.says {
				if !strings.Contains(output, says) {
					t.Errorf("it does not say %q: %s", says, output)
				}
			}
			v.must(exit.ExitNo, "no backup runs on tag default", "backup", "status", "nightly")
		})
	}
}

// Once the fault is repaired the same command continues: nothing has to be reverted.
func TestABackupStartsOnceItsStoreCredentialsAreFixed(t *testing.T) {
	v := newVault(t)
	wrongCredentials(v)
	v.must(exit.ExitUnreachable, "no response from the store", "reconcile", "fdbbackup/nightly", "--yes", "--wait", "--timeout", "3m")
	v.files["/credentials"] = `{"accounts":{"key@store":{"secret":"` + storeSecret + `"}}}`
	v.must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait", "--timeout", "3m")
}

// A store that is lost later stops nothing at once: the backup falls behind, and the errors
// of its agents are shown.
func TestABackupThatLosesItsStoreReportsAgentErrors(t *testing.T) {
	v := newVault(t)
	v.runs()
	wrongCredentials(v)
	v.cluster.FDB.Advance(time.Hour)
	v.must(exit.ExitNo, "agents encounter errors: 'Platform error'", "backup", "status", "nightly")
	v.must(exit.ExitNo, "errors of agents: 'Platform error'", "check", "sample", "--rules", "BACKUP-004")
	v.must(exit.ExitWaiting, "agents encounter errors", "wait", "fdbbackup/nightly", "--for=reconciled", "--timeout", "1m")
}

func TestARestoreThatFailsToStartReportsWhatToCheck(t *testing.T) {
	unresponsive := "starting a restore: no response from the store within 45s, while the database responds; "
	place := func(change func(*v1beta2.BlobStoreConfiguration)) func(*vault) {
		return func(v *vault) {
			v.editRestore(func(r *v1beta2.FoundationDBRestore) { change(r.Spec.BlobStoreConfiguration) })
		}
	}
	tests := map[string]struct {
		given func(*vault)
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
			func(v *vault) {
				v.editRestore(func(r *v1beta2.FoundationDBRestore) { r.Spec.BackupVersion = new(uint64(7)) })
			}, exit.ExitRefused,
			[]string{"Restore version 7 is not possible from blobstore://key@store:443/nightly", "spec.backupVersion must be a version in the backup"},
			false,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := newVault(t)
			v.runs()
			v.fdbcli(`writemode on; clearrange "" \xff`)
			tc.given(v)
			output := v.must(tc.want, "", "reconcile", "fdbrestore/again", "--yes", "--wait", "--timeout", "3m") + v.err.String()
			for _, says := range tc.says {
				if !strings.Contains(output, says) {
					t.Errorf("it does not say %q: %s", says, output)
				}
			}
			if got := v.fdbcli("getrangekeys a z"); strings.Contains(got, "greeting") || strings.Contains(got, "locked") {
				t.Errorf("the database is not as it was: %s", got)
			}
			status := map[bool]string{true: "the database does not list it", false: "it is not started yet"}[tc.kept]
			v.must(exit.ExitNo, status, "restore", "status", "again")
			if tc.kept {
				v.must(exit.ExitNo, status, "wait", "fdbrestore/again", "--for=done", "--timeout", "1m")
				return
			}
			v.must(exit.ExitWaiting, "start it: kubectl fdb reconcile fdbrestore/again --wait", "wait", "fdbrestore/again", "--for=done", "--timeout", "1m")
		})
	}
}
