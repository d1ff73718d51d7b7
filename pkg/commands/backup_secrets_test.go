package commands

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// everyLook are command lines that show backups or restores and change nothing, and
// everyChange those that change something, in every form of output.
func everyLook() [][]string {
	var all [][]string
	for _, form := range []string{"", "wide", "json", "name", "jsonpath={}"} { // YAML is made of the JSON
		for _, words := range [][]string{
			{"backup", "status", "nightly"},
			{"backup", "list"},
			{"backup", "list", "--store"},
			{"backup", "describe", "nightly"},
			{"restore", "status", "again"},
			{"wait", "fdbrestore/again", "--for=done", "--timeout", "1s"},
			{"check", "sample"},
			{"status", "sample"},
			{"describe", "sample"},
			{"why", "sample"},
			{"why", "fdbbackup/nightly"},
			{"why", "fdbrestore/again"},
			{"events", "sample"},
		} {
			if form != "" {
				words = append(words, "-o", form)
			}
			all = append(all, words)
		}
	}
	for _, form := range []string{"junit", "sarif", "markdown"} {
		all = append(all, []string{"check", "sample", "-o", form})
	}
	return append(all, []string{"status", "sample", "--sections", "backups"}, []string{"check", "sample", "--rules", "BACKUP,RESTORE"})
}

func everyChange() [][]string {
	all := [][]string{
		{"plan", "sample", "--with-backups"},
		{"plan", "sample", "--with-backups", "-o", "json"},
		{"plan", "fdbbackup/nightly", "-o", "wide"},
		{"plan", "fdbrestore/again", "-o", "yaml"},
	}
	for _, words := range [][]string{
		{"reconcile", "fdbbackup/nightly"},
		{"reconcile", "fdbrestore/again"},
		{"reconcile", "sample", "--with-backups"},
		{"backup", "pause", "nightly"},
		{"backup", "resume", "nightly"},
		{"backup", "stop", "nightly"},
		{"backup", "start", "nightly"},
		{"restore", "start", "again"},
		{"restore", "abort", "again"},
		{"backup", "expire", "nightly", "--older-than", "1s"},
		{"backup", "delete", "nightly"},
	} {
		for _, flags := range [][]string{{"--dry-run"}, {"--dry-run", "-o", "json"}, {"--yes"}, {"--yes", "-o", "json"}, {"--yes", "-v=2"}} {
			all = append(all, append(append([]string{}, words...), flags...))
		}
	}
	return all
}

// secretsOfAStore are places where a secret of a store can stand.
func secretsOfAStore() map[string]func(*vault) {
	theirs := "blobstore://key:" + storeSecret + "@store:443/nightly?bucket=fdb-backups&region=eu"
	return map[string]func(*vault){
		"in a file, where it belongs": func(v *vault) { v.runs() },
		"in the account of the record": func(v *vault) {
			v.runs()
			v.place(func(b *v1beta2.BlobStoreConfiguration) { b.AccountName = "key:" + storeSecret + "@store" })
		},
		"in an account that is none": func(v *vault) {
			v.runs()
			v.place(func(b *v1beta2.BlobStoreConfiguration) { b.AccountName = "key:" + storeSecret })
		},
		"in a header of the record": func(v *vault) {
			v.runs()
			v.place(func(b *v1beta2.BlobStoreConfiguration) {
				b.URLParameters = append(b.URLParameters, "header=Authorization:"+v1beta2.URLParameter(storeSecret))
			})
		},
		"in the URL of a backup of a user": func(v *vault) {
			v.runs()
			v.tool(v.t.Context(), "fdbbackup", "abort", "-t", "default")
			v.tool(v.t.Context(), "fdbbackup", "start", "-z", "-t", "default", "-d", theirs)
			v.cluster.FDB.Advance(time.Minute)
		},
		"in the URL of a restore of a user": func(v *vault) {
			v.runs()
			v.fdbcli(`writemode on; clearrange "" \xff`)
			v.tool(v.t.Context(), "fdbrestore", "start", "--dest_cluster_file", "/var/dynamic-conf/fdb.cluster", "-t", "theirs", "-r", theirs)
		},
		"and the store does not answer": func(v *vault) { v.runs(); v.cluster.FDB.Advance(time.Minute); wrongCredentials(v) },
	}
}

// The secret of the store is in nothing that a command prints, runs or records.
func TestCommandsNeverExposeBackupStoreSecrets(t *testing.T) {
	for name, given := range secretsOfAStore() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVault(t)
			given(v)
			v.ran = nil
			for _, words := range append(everyLook(), everyChange()...) {
				v.run(words...)
				if strings.Contains(v.err.String(), "--help") {
					t.Errorf("%v is no command line, so that it tests nothing: %s", words, &v.err)
				}
				v.printedNoSecret(words)
			}
			v.holdsNoSecret()
		})
	}
}

// The same for commands that run until a signal, and for what they record.
func TestLongRunningCommandsNeverExposeBackupStoreSecrets(t *testing.T) {
	for name, given := range secretsOfAStore() {
		t.Run("reconcile --watch, "+name, func(t *testing.T) {
			v := newVault(t)
			given(v)
			v.ran = nil
			w := &watched{given: v.given, steps: []func(){func() {}}, counts: func(d time.Duration) bool { return d > sleepsMost }}
			w.run("--with-backups", "--yes", "-v=2")
			v.printedNoSecret([]string{"reconcile", "--watch", "--with-backups"})
			v.holdsNoSecret()
		})
		t.Run("watch, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVault(t)
				given(v)
				v.ran, v.now = nil, clock.RealClock{}
				ctx, end := context.WithTimeout(t.Context(), 25*time.Second)
				defer end()
				kept := filepath.Join(v.env["XDG_STATE_HOME"], "night.ndjson")
				v.runIn(ctx, "watch", "sample", "--plain", "--record", kept)
				if !strings.Contains(v.out.String(), "backup nightly: ") {
					t.Errorf("the backup is not in the output, so that this tests nothing: %s%s", &v.out, &v.err)
				}
				v.printedNoSecret([]string{"watch"})
				v.holdsNoSecret()
			})
		})
	}
}

func (v *vault) printedNoSecret(words []string) {
	v.t.Helper()
	if strings.Contains(v.out.String()+v.err.String(), storeSecret) {
		v.t.Errorf("%v: the secret was printed\nstdout: %s\nstderr: %s", words, &v.out, &v.err)
	}
}

// holdsNoSecret looks at what is left behind: what ran, the audit, Events, and what records
// say of what was seen.
func (v *vault) holdsNoSecret() {
	v.t.Helper()
	if strings.Contains(strings.Join(v.ran, "\n"), storeSecret) {
		v.t.Errorf("the secret was an argument: %s", v.ran)
	}
	for _, e := range v.events {
		if strings.Contains(e.Message, storeSecret) {
			v.t.Errorf("the secret is in an Event: %s", e.Message)
		}
	}
	kept := func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), storeSecret) {
			v.t.Errorf("the secret is in %s", path)
		}
		return err
	}
	if err := filepath.WalkDir(v.env["XDG_STATE_HOME"], kept); err != nil {
		v.t.Error(err)
	}
	b, pods := &v1beta2.FoundationDBBackup{}, &corev1.PodList{}
	if err := v.api.Get(v.t.Context(), types.NamespacedName{Namespace: "fdb", Name: "nightly"}, b); err != nil {
		v.t.Fatal(err)
	}
	if d := b.Status.BackupDetails; d != nil && strings.Contains(d.URL, storeSecret) {
		v.t.Errorf("the secret is recorded: %s", d.URL)
	}
	if err := v.api.List(v.t.Context(), pods); err != nil {
		v.t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if strings.Contains(pod.String(), storeSecret) {
			v.t.Errorf("the secret is in pod %s", pod.Name)
		}
	}
}
