package commandstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// BackedUp is a vault with a backup that runs and has two snapshots an hour apart.
func BackedUp(t *testing.T) *Vault {
	t.Helper()
	v := NewVault(t)
	v.Fdbcli("writemode on; set greeting hello")
	v.Edit(func(b *v1beta2.FoundationDBBackup) { b.Spec.SnapshotPeriodSeconds = new(60) })
	v.Must(exit.ExitDone, "", "backup", "start", "nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(10 * time.Minute)
	return v
}

// Stopped is one whose backup was stopped then.
func Stopped(t *testing.T) *Vault {
	t.Helper()
	v := BackedUp(t)
	v.Must(exit.ExitDone, "", "backup", "stop", "nightly", "--yes", "--wait")
	return v
}

// Described returns what `backup describe` shows of the backup.
func (v *Vault) Described() lists.BackupDescriptionView {
	v.T.Helper()
	v.Out.Reset()
	v.Err.Reset()
	v.Run("backup", "describe", "nightly", "-o", "json")
	Valid(v.T, "backup describe", v.Out.Bytes())
	var d lists.BackupDescriptionView
	if err := json.Unmarshal(v.Out.Bytes(), &d); err != nil {
		v.T.Fatal(err)
	}
	return d
}

// Deletions are the commands that delete something of a store.
func (v *Vault) Deletions() []string {
	var all []string
	for _, line := range v.Ran {
		if strings.Contains(line, "fdbbackup delete") || strings.Contains(line, "fdbbackup expire") {
			all = append(all, line)
		}
	}
	return all
}

// EditRestore changes the restore like a user.
func (v *Vault) EditRestore(change func(*v1beta2.FoundationDBRestore)) {
	v.T.Helper()
	r := &v1beta2.FoundationDBRestore{}
	if err := v.API.Get(v.T.Context(), types.NamespacedName{Namespace: "fdb", Name: "again"}, r); err != nil {
		v.T.Fatal(err)
	}
	change(r)
	if err := v.API.Update(v.T.Context(), r); err != nil {
		v.T.Fatal(err)
	}
}

// Place changes the destination of the backup, and where the restore reads.
func (v *Vault) Place(change func(*v1beta2.BlobStoreConfiguration)) {
	v.T.Helper()
	v.Edit(func(b *v1beta2.FoundationDBBackup) { change(b.Spec.BlobStoreConfiguration) })
	v.EditRestore(func(r *v1beta2.FoundationDBRestore) { change(r.Spec.BlobStoreConfiguration) })
}

// Runs has the backup run, and be restorable.
func (v *Vault) Runs() {
	v.T.Helper()
	v.Fdbcli("writemode on; set greeting hello")
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
}

// PlaceOfNightly is the URL of the backup.
const PlaceOfNightly = "blobstore://key@store:443/nightly?bucket=fdb-backups&region=eu"

// Halved interrupts the next deletions once the oldest snapshots are deleted.
func (v *Vault) Halved(times int, end func() (admin.Result, error)) {
	v.T.Helper()
	snapshots := v.Described().Snapshots
	if len(snapshots) < times+2 {
		v.T.Fatalf("there are %d snapshots", len(snapshots))
	}
	at := 0
	v.Cut = func(ctx context.Context) (admin.Result, error) {
		at++
		if at == times {
			v.Cut = nil
		}
		v.Tool(ctx, "fdbbackup", "expire", "-d", PlaceOfNightly, "--expire-before-version", fmt.Sprint(snapshots[at].Begin.Version), "--force")
		return end()
	}
}

// EveryLook are command lines that show backups or restores and change nothing, and
// everyChange those that change something, in every form of output.
func EveryLook() [][]string {
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

// EveryChange returns command lines of plans and changes of the cluster, its backup and its restore.
func EveryChange() [][]string {
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

// PrintedNoSecret fails the test if the last command printed the secret of the store.
func (v *Vault) PrintedNoSecret(words []string) {
	v.T.Helper()
	if strings.Contains(v.Out.String()+v.Err.String(), StoreSecret) {
		v.T.Errorf("%v: the secret was printed\nstdout: %s\nstderr: %s", words, &v.Out, &v.Err)
	}
}

// HoldsNoSecret looks at what is left behind: what ran, the audit, Events, and what records
// say of what was seen.
func (v *Vault) HoldsNoSecret() {
	v.T.Helper()
	if strings.Contains(strings.Join(v.Ran, "\n"), StoreSecret) {
		v.T.Errorf("the secret was an argument: %s", v.Ran)
	}
	for _, e := range v.Events {
		if strings.Contains(e.Message, StoreSecret) {
			v.T.Errorf("the secret is in an Event: %s", e.Message)
		}
	}
	kept := func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), StoreSecret) {
			v.T.Errorf("the secret is in %s", path)
		}
		return err
	}
	if err := filepath.WalkDir(v.Env["XDG_STATE_HOME"], kept); err != nil {
		v.T.Error(err)
	}
	b, pods := &v1beta2.FoundationDBBackup{}, &corev1.PodList{}
	if err := v.API.Get(v.T.Context(), types.NamespacedName{Namespace: "fdb", Name: "nightly"}, b); err != nil {
		v.T.Fatal(err)
	}
	if d := b.Status.BackupDetails; d != nil && strings.Contains(d.URL, StoreSecret) {
		v.T.Errorf("the secret is recorded: %s", d.URL)
	}
	if err := v.API.List(v.T.Context(), pods); err != nil {
		v.T.Fatal(err)
	}
	for _, pod := range pods.Items {
		if strings.Contains(pod.String(), StoreSecret) {
			v.T.Errorf("the secret is in pod %s", pod.Name)
		}
	}
}

// Must runs a command and fails the test unless it ends and prints as expected, without a
// secret.
func (v *Vault) Must(want int, says string, args ...string) string {
	v.T.Helper()
	v.Out.Reset()
	v.Err.Reset()
	got := v.Run(args...)
	output := v.Out.String() + v.Err.String()
	if got != want || !strings.Contains(output, says) {
		v.T.Fatalf("%v: exit code %d, want %d, and %q\nstdout: %s\nstderr: %s", args, got, want, says, &v.Out, &v.Err)
	}
	if strings.Contains(output+strings.Join(v.Ran, "\n"), StoreSecret) {
		v.T.Errorf("%v: the secret was printed or run", args)
	}
	return v.Out.String()
}

// Edit changes the backup like a user.
func (v *Vault) Edit(change func(*v1beta2.FoundationDBBackup)) {
	v.T.Helper()
	b := &v1beta2.FoundationDBBackup{}
	if err := v.API.Get(v.T.Context(), types.NamespacedName{Namespace: "fdb", Name: "nightly"}, b); err != nil {
		v.T.Fatal(err)
	}
	change(b)
	if err := v.API.Update(v.T.Context(), b); err != nil {
		v.T.Fatal(err)
	}
}

// Tool runs a backup tool manually in a pod of agents.
func (v *Vault) Tool(ctx context.Context, argv ...string) {
	v.T.Helper()
	r, err := agentTransport{v}.Run(ctx, admin.Command{Argv: argv, Limit: time.Minute})
	if err != nil || r.ExitCode != 0 {
		v.T.Fatalf("%v: %+v %v", argv, r, err)
	}
}

// Restoring is a vault with a running restore of deleted data. Agents are paused, so that it
// stays so.
func Restoring(t *testing.T) *Vault {
	t.Helper()
	v := NewVault(t)
	v.Fdbcli("writemode on; set greeting hello")
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	v.Must(exit.ExitWaiting, "the restore is queued", "reconcile", "fdbrestore/again", "--yes")
	v.Tool(v.T.Context(), "fdbbackup", "pause")
	return v
}

// Restore returns the restore.
func (v *Vault) Restore() *v1beta2.FoundationDBRestore {
	v.T.Helper()
	r := &v1beta2.FoundationDBRestore{}
	if err := v.API.Get(v.T.Context(), types.NamespacedName{Namespace: "fdb", Name: "again"}, r); err != nil {
		v.T.Fatal(err)
	}
	return r
}

// Besides makes another restore of the same.
func (v *Vault) Besides(name string, status v1beta2.FoundationDBRestoreStatus) {
	v.T.Helper()
	other := &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "fdb"}, Spec: v.Restore().Spec}
	if err := v.API.Create(v.T.Context(), other); err != nil {
		v.T.Fatal(err)
	}
	other.Status = status
	if err := v.API.Status().Update(v.T.Context(), other); err != nil {
		v.T.Fatal(err)
	}
}

// Aborts counts the aborts that were sent.
func (v *Vault) Aborts() int {
	n := 0
	for _, line := range v.Ran {
		if strings.Contains(line, "fdbrestore abort") {
			n++
		}
	}
	return n
}

// WithData is a vault with a backup of data that is still there.
func WithData(t *testing.T) *Vault {
	t.Helper()
	v := NewVault(t)
	v.Fdbcli("writemode on; set greeting hello")
	v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	v.Cluster.FDB.Advance(time.Minute)
	return v
}

// Restorable is one whose data was deleted since.
func Restorable(t *testing.T) *Vault {
	t.Helper()
	v := WithData(t)
	v.Fdbcli(`writemode on; clearrange "" \xff`)
	return v
}

// MakeRestoreAnew deletes the resource and creates it again.
func (v *Vault) MakeRestoreAnew() {
	v.T.Helper()
	old := v.Restore()
	fresh := &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: old.Name, Namespace: old.Namespace, UID: "another"}, Spec: old.Spec}
	if err := errors.Join(v.API.Delete(v.T.Context(), old), v.API.Create(v.T.Context(), fresh)); err != nil {
		v.T.Fatal(err)
	}
}
