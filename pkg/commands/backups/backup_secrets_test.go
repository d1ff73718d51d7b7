package backups_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
)

// secretsOfAStore are places where a secret of a store can stand.
func secretsOfAStore() map[string]func(*commandstest.Vault) {
	theirs := "blobstore://key:" + commandstest.StoreSecret + "@store:443/nightly?bucket=fdb-backups&region=eu"
	return map[string]func(*commandstest.Vault){
		"in a file, where it belongs": func(v *commandstest.Vault) { v.Runs() },
		"in the account of the record": func(v *commandstest.Vault) {
			v.Runs()
			v.Place(func(b *v1beta2.BlobStoreConfiguration) { b.AccountName = "key:" + commandstest.StoreSecret + "@store" })
		},
		"in an account that is none": func(v *commandstest.Vault) {
			v.Runs()
			v.Place(func(b *v1beta2.BlobStoreConfiguration) { b.AccountName = "key:" + commandstest.StoreSecret })
		},
		"in a header of the record": func(v *commandstest.Vault) {
			v.Runs()
			v.Place(func(b *v1beta2.BlobStoreConfiguration) {
				b.URLParameters = append(b.URLParameters, "header=Authorization:"+v1beta2.URLParameter(commandstest.StoreSecret))
			})
		},
		"in the URL of a backup of a user": func(v *commandstest.Vault) {
			v.Runs()
			v.Tool(v.T.Context(), "fdbbackup", "abort", "-t", "default")
			v.Tool(v.T.Context(), "fdbbackup", "start", "-z", "-t", "default", "-d", theirs)
			v.Cluster.FDB.Advance(time.Minute)
		},
		"in the URL of a restore of a user": func(v *commandstest.Vault) {
			v.Runs()
			v.Fdbcli(`writemode on; clearrange "" \xff`)
			v.Tool(v.T.Context(), "fdbrestore", "start", "--dest_cluster_file", "/var/dynamic-conf/fdb.cluster", "-t", "theirs", "-r", theirs)
		},
		"and the store does not answer": func(v *commandstest.Vault) { v.Runs(); v.Cluster.FDB.Advance(time.Minute); wrongCredentials(v) },
	}
}

// The secret of the store is in nothing that a command prints, runs or records.
func TestCommandsNeverExposeBackupStoreSecrets(t *testing.T) {
	for name, given := range secretsOfAStore() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := commandstest.NewVault(t)
			given(v)
			v.Ran = nil
			for _, words := range append(commandstest.EveryLook(), commandstest.EveryChange()...) {
				v.Run(words...)
				if strings.Contains(v.Err.String(), "--help") {
					t.Errorf("%v is no command line, so that it tests nothing: %s", words, &v.Err)
				}
				v.PrintedNoSecret(words)
			}
			v.HoldsNoSecret()
		})
	}
}

// The same for commands that run until a signal, and for what they record.
func TestLongRunningCommandsNeverExposeBackupStoreSecrets(t *testing.T) {
	for name, given := range secretsOfAStore() {
		t.Run("reconcile --watch, "+name, func(t *testing.T) {
			v := commandstest.NewVault(t)
			given(v)
			v.Ran = nil
			w := &commandstest.Watched{Given: v.Given, Steps: []func(){func() {}}, Counts: func(d time.Duration) bool { return d > commandstest.SleepsMost }}
			w.Run("--with-backups", "--yes", "-v=2")
			v.PrintedNoSecret([]string{"reconcile", "--watch", "--with-backups"})
			v.HoldsNoSecret()
		})
		t.Run("watch, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := commandstest.NewVault(t)
				given(v)
				v.Ran, v.Now = nil, clock.RealClock{}
				ctx, end := context.WithTimeout(t.Context(), 25*time.Second)
				defer end()
				kept := filepath.Join(v.Env["XDG_STATE_HOME"], "night.ndjson")
				v.RunIn(ctx, "watch", "sample", "--plain", "--record", kept)
				if !strings.Contains(v.Out.String(), "backup nightly: ") {
					t.Errorf("the backup is not in the output, so that this tests nothing: %s%s", &v.Out, &v.Err)
				}
				v.PrintedNoSecret([]string{"watch"})
				v.HoldsNoSecret()
			})
		})
	}
}
