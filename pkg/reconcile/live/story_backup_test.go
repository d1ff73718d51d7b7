package live_test

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
)

func TestABackupStarts(t *testing.T) {
	st := newBackupStory(t)
	st.logf("a user creates FoundationDBBackup nightly")
	st.backupPasses(30 * time.Second)
	st.logf("the first snapshot is written")
	st.elapse(time.Minute)
	st.backupPasses(30 * time.Second)
	st.ends()
}

func TestABackupChangesItsSnapshotPeriodAndDestination(t *testing.T) {
	st := newBackupStory(t)
	st.change(func(b *v1beta2.FoundationDBBackup) { b.Spec.SnapshotPeriodSeconds = new(600) })
	st.running()
	st.asks("the spec has a snapshot every hour", func(b *v1beta2.FoundationDBBackupSpec) { b.SnapshotPeriodSeconds = new(3600) })
	st.backupPasses(30 * time.Second)
	st.asks("the spec has another place", func(b *v1beta2.FoundationDBBackupSpec) { b.BlobStoreConfiguration.BackupName = "hourly" })
	st.pass(st.backup, backup.Backup())
	st.elapse(30 * time.Second)
	st.pass(st.backup, backup.Backup())
	st.logf("the snapshot that was being made is complete, in two places, and the next one begins")
	st.elapse(10 * time.Minute)
	st.pass(st.backup, backup.Backup())
	st.logf("that one is complete as well")
	st.elapse(time.Hour)
	st.backupPasses(30 * time.Second)
	st.ends()
}

func TestABackupIsPausedAndResumed(t *testing.T) {
	st := newBackupStory(t).running()
	st.asks("spec.backupState is Paused", func(b *v1beta2.FoundationDBBackupSpec) { b.BackupState = v1beta2.BackupStatePaused })
	st.backupPasses(30 * time.Second)
	st.asks("spec.backupState is Running", func(b *v1beta2.FoundationDBBackupSpec) { b.BackupState = v1beta2.BackupStateRunning })
	st.backupPasses(30 * time.Second)
	st.ends()
}

func TestABackupIsStopped(t *testing.T) {
	st := newBackupStory(t).running()
	st.asks("spec.backupState is Stopped", func(b *v1beta2.FoundationDBBackupSpec) { b.BackupState = v1beta2.BackupStateStopped })
	st.backupPasses(30 * time.Second)
	st.ends()
}

func TestAgentsOfABackupAreScaled(t *testing.T) {
	st := newBackupStory(t).running()
	st.asks("the spec has 4 agents instead of 2", func(b *v1beta2.FoundationDBBackupSpec) { b.AgentCount = new(4) })
	st.backupPasses(30 * time.Second)
	st.asks("the spec has 1 agent", func(b *v1beta2.FoundationDBBackupSpec) { b.AgentCount = new(1) })
	st.backupPasses(30 * time.Second)
	st.ends()
}

// Whatever is recorded stays, nothing is done on a guess, and it goes on once agents are back.
func TestABackupStopWaitsUntilItsAgentsAreReachable(t *testing.T) {
	st := newBackupStory(t).running()
	st.logf("no command gets into the pods of the agents any more, and the spec requests to stop")
	st.unready()
	st.change(func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupState = v1beta2.BackupStateStopped })
	st.pass(st.backup, backup.Backup())
	st.nodes.FDB.Advance(time.Minute)
	st.pass(st.backup, backup.Backup())
	st.logf("their pods are deleted, and Kubernetes makes others")
	for name := range st.agents {
		st.endAgent(name)
	}
	st.elapse(30 * time.Second)
	st.backupPasses(30 * time.Second)
	st.ends()
}

func TestAChangedBackupTagEndsThePass(t *testing.T) {
	st := newBackupStory(t).running()
	st.asks("the spec names another tag", func(b *v1beta2.FoundationDBBackupSpec) { b.Tag = new(v1beta2.BackupTag("weekly")) })
	st.pass(st.backup, backup.Backup())
	st.asks("the spec names the old tag again", func(b *v1beta2.FoundationDBBackupSpec) { b.Tag = nil })
	st.backupPasses(30 * time.Second)
	st.ends()
}

func TestACleanupPolicyDeletesTheDataOfADeletedBackup(t *testing.T) {
	st := newBackupStory(t).running()
	st.asks("spec.deletionPolicy is cleanup", func(b *v1beta2.FoundationDBBackupSpec) {
		b.DeletionPolicy = new(v1beta2.BackupDeletionPolicyCleanup)
	})
	st.backupPasses(30 * time.Second)
	st.logf("a user deletes FoundationDBBackup nightly")
	if err := st.api.Delete(t.Context(), st.theBackup()); err != nil {
		t.Fatal(err)
	}
	st.backupPasses(5 * time.Second)
	if err := st.api.Get(t.Context(), nightlyKey, &v1beta2.FoundationDBBackup{}); !apierrors.IsNotFound(err) {
		t.Errorf("the record is still there: %v", err)
	}
	st.ends()
}

// restored has a database with a key, a backup of it, and a restore that asks for it back.
func restored(t *testing.T) *backupStory {
	t.Helper()
	st := newBackupStory(t)
	st.fdbcli("writemode on; set greeting hello")
	st.running()
	st.nodes.FDB.Advance(time.Minute)
	st.change(func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupState = v1beta2.BackupStateStopped })
	st.running()
	st.put(newRestore(func(*v1beta2.FoundationDBRestore) {}))
	return st
}

// restorePasses makes so many passes over the restore at a pace.
func (st *backupStory) restorePasses(n int, pace time.Duration) {
	st.t.Helper()
	for range n {
		st.pass(st.restore, backup.Restore())
		st.elapse(pace)
	}
}

func TestARestoreToAVersion(t *testing.T) {
	st := restored(t)
	st.restore.Client = versioned{st.restore.Client, uint64(st.restorable())}
	st.fdbcli(`writemode on; clearrange "" \xff`)
	st.logf("all data is lost, and a user creates FoundationDBRestore again for a version that they know")
	st.restorePasses(1, 300*time.Millisecond)
	st.restorePasses(1, time.Minute)
	st.restorePasses(2, time.Minute)
	if got := st.fdbcli("get greeting"); got != "`greeting' is `hello'\n" {
		t.Errorf("got %q", got)
	}
	st.ends()
}

// versioned has every restore ask for a version. The API server in memory cannot keep one: it
// knows no unsigned numbers.
type versioned struct {
	client.Client
	version uint64
}

func (c versioned) Get(ctx context.Context, name client.ObjectKey, into client.Object, options ...client.GetOption) error {
	err := c.Client.Get(ctx, name, into, options...)
	if r, ok := into.(*v1beta2.FoundationDBRestore); ok {
		r.Spec.BackupVersion = &c.version
	}
	return err
}

func (c versioned) Status() client.SubResourceWriter { //nolint:ireturn // the client's own shape
	return statusOf{c.Client.Status()}
}

type statusOf struct{ client.SubResourceWriter }

func (w statusOf) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	r, ok := o.(*v1beta2.FoundationDBRestore)
	if !ok {
		return w.SubResourceWriter.Update(ctx, o, options...)
	}
	version := r.Spec.BackupVersion
	r.Spec.BackupVersion = nil
	defer func() { r.Spec.BackupVersion = version }()
	return w.SubResourceWriter.Update(ctx, r, options...)
}

// restorable is the newest version that the backup can be restored to.
func (st *backupStory) restorable() int64 {
	st.t.Helper()
	b, err := admin.NewBackups(agentTransport{st.vault}, nil).Status(st.t.Context(), "default")
	if err != nil || b.LatestRestorable == nil {
		st.t.Fatalf("%+v, %v", b, err)
	}
	return b.LatestRestorable.Version
}

func TestARestoreIntoADatabaseWithDataIsRefused(t *testing.T) {
	st := restored(t)
	st.logf("a user creates FoundationDBRestore again while the data is still there")
	st.restorePasses(2, time.Minute)
	st.fdbcli(`writemode on; clearrange "" \xff`)
	st.logf("the data is deleted")
	st.restorePasses(3, time.Minute)
	st.ends()
}

func TestAManuallyAbortedRestoreIsNotStartedAgain(t *testing.T) {
	st := restored(t)
	st.fdbcli(`writemode on; clearrange "" \xff`)
	st.logf("all data is lost, and a user creates FoundationDBRestore again")
	st.restorePasses(1, 0)
	st.logf("a user runs fdbrestore abort manually")
	st.tool("fdbrestore", "abort", "-t", "default", "--dest-cluster-file", agentClusterFile)
	st.restorePasses(2, time.Minute)
	st.ends()
}

// tool runs a backup tool in a pod of agents, as a user does manually.
func (v *vault) tool(argv ...string) {
	v.t.Helper()
	r, err := agentTransport{v}.Run(v.t.Context(), admin.Command{Argv: argv, Limit: time.Minute})
	if err != nil || r.ExitCode != 0 {
		v.t.Fatalf("%v: %s%s %v", argv, r.Stdout, r.Stderr, err)
	}
}

var agentClusterFile = agentEnv()["FDB_CLUSTER_FILE"]
