package live_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
)

// vault is a cluster with a database, a store, and a backup of the one to the other.
type vault struct {
	*field
	backup  *live.BackupCluster
	restore *live.RestoreCluster
	files   agentFiles
	agents  map[string]*fdbsim.Agent
	ran     [][]string                // command lines
	drop    int                       // how many of the next commands are lost after they worked
	problem func(argv []string) error // what keeps a command from being run; nil for nothing
}

// agentFiles are what a pod of agents has.
type agentFiles map[string]string

func (f agentFiles) ReadFile(name string) ([]byte, error) {
	if content, ok := f[name]; ok {
		return []byte(content), nil
	}
	return nil, fs.ErrNotExist
}

func (f agentFiles) WriteFile(name string, content []byte) error {
	f[name] = string(content)
	return nil
}
func (f agentFiles) Writable(string) bool { return true }

// agentTransport runs the simulated tools in a pod of agents.
type agentTransport struct{ *vault }

func (a agentTransport) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	a.ran = append(a.ran, c.Argv)
	if a.problem != nil {
		if err := a.problem(c.Argv); err != nil {
			return admin.Result{}, err
		}
	}
	var stdout, stderr bytes.Buffer
	argv := append([]string{"timeout", fmt.Sprint(c.Limit.Seconds())}, c.Argv...)
	exit := fdbsim.Of(a.nodes.FDB).RunCommand(ctx, argv, fdbsim.Tool{Version: "7.3.79", Files: a.files, Env: agentEnv(), Stdout: &stdout, Stderr: &stderr})
	if a.drop > 0 && changes(c.Argv) {
		a.drop--
		return admin.Result{}, &admin.TransportError{Started: true, Where: "a pod", Err: context.DeadlineExceeded}
	}
	return admin.Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: exit}, nil
}

func changes(argv []string) bool { return !slices.Contains(argv, "status") }

func (a agentTransport) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, fmt.Errorf("no backup tools here")
}

func agentEnv() map[string]string {
	return map[string]string{"FDB_CLUSTER_FILE": fdb.BackupClusterFile, "FDB_BLOB_CREDENTIALS": "/credentials"}
}

var nightlyKey = named("nightly")

const storeSecret = "hunter2"

func newVault(t *testing.T) *vault {
	t.Helper()
	v := &vault{field: settled(t), agents: map[string]*fdbsim.Agent{}}
	v.nodes.FDB.AddBlobStore(fdbsim.BlobStore{Host: "store:443", Secrets: map[string]string{"key": storeSecret}, Buckets: []string{"fdb-backups"}})
	v.files = agentFiles{
		fdb.BackupClusterFile: v.resource().Status.ConnectionString + "\n", "/credentials": `{"accounts":{"key@store":{"secret":"` + storeSecret + `"}}}`,
	}
	b := &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: key.Namespace, UID: "b", Generation: 1}}
	b.Spec.Version, b.Spec.ClusterName, b.Spec.ImageType = "7.3.79", key.Name, new(v1beta2.ImageTypeUnified)
	b.Spec.BlobStoreConfiguration = &v1beta2.BlobStoreConfiguration{AccountName: "key@store", URLParameters: []v1beta2.URLParameter{"region=eu"}}
	v.put(b)
	cluster := func() live.Options {
		return live.Options{
			Client: v.cluster.Client, Holder: v.cluster.Holder, Clock: v.cluster.Clock,
			Transport: func(*corev1.Pod) admin.Transport { return agentTransport{v} },
		}
	}
	v.backup = live.NewBackup(cluster())
	v.backup.Key = nightlyKey
	v.restore = live.NewRestore(named("again"), cluster())
	return v
}

func (v *vault) put(o client.Object) {
	v.t.Helper()
	if err := v.api.Create(v.t.Context(), o); err != nil {
		v.t.Fatal(err)
	}
}

func (v *vault) theBackup() *v1beta2.FoundationDBBackup {
	v.t.Helper()
	b := &v1beta2.FoundationDBBackup{}
	if err := v.api.Get(v.t.Context(), nightlyKey, b); err != nil {
		v.t.Fatal(err)
	}
	return b
}

func (v *vault) change(edit func(*v1beta2.FoundationDBBackup)) {
	v.t.Helper()
	b := v.theBackup()
	edit(b)
	b.Generation++
	if err := v.api.Update(v.t.Context(), b); err != nil {
		v.t.Fatal(err)
	}
}

// runDeployments is what Kubernetes does with deployments of agents.
func (v *vault) runDeployments() {
	v.t.Helper()
	all := &appsv1.DeploymentList{}
	if err := v.api.List(v.t.Context(), all); err != nil {
		v.t.Fatal(err)
	}
	for _, d := range all.Items {
		for i := range *d.Spec.Replicas {
			v.runAgent(fmt.Sprintf("%s-%d", d.Name, i), d.Spec.Template)
		}
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, ReadyReplicas: *d.Spec.Replicas, UpdatedReplicas: *d.Spec.Replicas}
		if err := v.api.Status().Update(v.t.Context(), &d); err != nil {
			v.t.Fatal(err)
		}
	}
}

func (v *vault) runAgent(name string, template corev1.PodTemplateSpec) {
	v.t.Helper()
	if v.agents[name] != nil {
		return
	}
	agent, exit := fdbsim.Of(v.nodes.FDB).StartBackupAgent(fdbsim.Tool{Name: "backup_agent", Version: "7.3.79", Files: v.files, Env: agentEnv()})
	if agent == nil {
		v.t.Fatalf("the agent ended with %d", exit)
	}
	v.agents[name] = agent
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: template.Spec}
	pod.Name, pod.Namespace = name, key.Namespace
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, Ready: true}}}
	v.put(pod)
	if err := v.api.Status().Update(v.t.Context(), pod); err != nil {
		v.t.Fatal(err)
	}
}

type clusterOfBackups interface {
	reconcile.Observer
	reconcile.Actor
}

func (v *vault) passOver(w clusterOfBackups, all []plan.Stage) reconcile.PassDone {
	v.t.Helper()
	p := reconcile.Pass{Stages: all, Observer: w, Actor: w, Seed: 42, Report: func(reconcile.Event) {}}
	done, err := p.Run(v.t.Context())
	if err != nil {
		v.t.Fatal(err)
	}
	return done
}

// settleBackup runs passes until one has nothing to do.
func (v *vault) settleBackup() {
	v.t.Helper()
	var done reconcile.PassDone
	for range 12 {
		if done = v.passOver(v.backup, backup.Backup()); done.Outcome == reconcile.Done {
			return
		}
		v.runDeployments()
		v.nodes.FDB.Advance(15 * time.Second)
	}
	v.t.Fatalf("not settled: %s, %v", done.Outcome, done.Failures)
}

func (v *vault) fdbcli(line string) string {
	v.t.Helper()
	var stdout bytes.Buffer
	exit := fdbsim.Of(v.nodes.FDB).RunCommand(v.t.Context(), []string{"fdbcli", "-C", fdb.BackupClusterFile, "--exec", line},
		fdbsim.Tool{Version: "7.3.79", Files: v.files, Stdout: &stdout, Stderr: &stdout})
	if exit != 0 {
		v.t.Fatalf("%s: %s", line, stdout.String())
	}
	return stdout.String()
}

func TestABackupIsStartedChangedPausedAndStoppedByItsSpec(t *testing.T) {
	v := newVault(t)
	v.settleBackup()
	v.nodes.FDB.Advance(time.Minute)
	v.settleBackup()
	if b := v.theBackup(); !b.Status.BackupDetails.Running || !b.Status.BackupDetails.Restorable || b.Status.AgentCount != 2 || b.Status.Generations.Reconciled != b.Generation {
		t.Errorf("status %+v %+v", b.Status, b.Status.BackupDetails)
	}
	v.log.reset()
	v.passOver(v.backup, backup.Backup())
	if writes := v.log.writes(); len(writes) > 0 {
		t.Errorf("a pass with nothing to do writes: %v", writes)
	}
	v.change(func(b *v1beta2.FoundationDBBackup) {
		b.Spec.SnapshotPeriodSeconds, b.Spec.BackupState = new(3600), v1beta2.BackupStatePaused
	})
	v.settleBackup()
	if d := v.theBackup().Status.BackupDetails; d.SnapshotTime != 3600 || !d.Paused {
		t.Errorf("details %+v", d)
	}
	v.change(func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupState = v1beta2.BackupStateStopped })
	v.settleBackup()
	if d := v.theBackup().Status.BackupDetails; d.Running || d.Paused {
		t.Errorf("details %+v", d)
	}
}

func TestADeletedBackupIsStoppedAndItsDataDeleted(t *testing.T) {
	v := newVault(t)
	v.change(func(b *v1beta2.FoundationDBBackup) { b.Spec.DeletionPolicy = new(v1beta2.BackupDeletionPolicyCleanup) })
	v.settleBackup()
	if err := v.api.Delete(t.Context(), v.theBackup()); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		p := reconcile.Pass{Stages: backup.Backup(), Observer: v.backup, Actor: v.backup, Report: func(reconcile.Event) {}}
		if _, err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		v.nodes.FDB.Advance(5 * time.Second)
	}
	if err := v.api.Get(t.Context(), nightlyKey, &v1beta2.FoundationDBBackup{}); !apierrors.IsNotFound(err) {
		t.Errorf("the record is still there: %v", err)
	}
	got, err := agentTransport{v}.Run(t.Context(), admin.Command{Argv: []string{"fdbbackup", "describe", "-d", "blobstore://key@store:443/nightly?bucket=fdb-backups&region=eu"}, Limit: time.Minute})
	if err != nil || !strings.Contains(string(got.Stderr), "Backup does not exist") {
		t.Errorf("%+v, %v", got, err)
	}
}

func newRestore(change func(*v1beta2.FoundationDBRestore)) *v1beta2.FoundationDBRestore {
	r := &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: "again", Namespace: key.Namespace, UID: "r"}}
	r.Spec.DestinationClusterName = key.Name
	r.Spec.BlobStoreConfiguration = &v1beta2.BlobStoreConfiguration{AccountName: "key@store", BackupName: "nightly", URLParameters: []v1beta2.URLParameter{"region=eu"}}
	change(r)
	return r
}

func (v *vault) theRestore() v1beta2.FoundationDBRestoreStatus {
	v.t.Helper()
	r := &v1beta2.FoundationDBRestore{}
	if err := v.api.Get(v.t.Context(), v.restore.Name, r); err != nil {
		v.t.Fatal(err)
	}
	return r.Status
}

func TestARestoreRefillsAnEmptyDatabaseOnce(t *testing.T) {
	v := newVault(t)
	v.fdbcli("writemode on; set greeting hello")
	v.settleBackup()
	v.nodes.FDB.Advance(time.Minute)
	v.change(func(b *v1beta2.FoundationDBBackup) { b.Spec.BackupState = v1beta2.BackupStateStopped })
	v.settleBackup()
	v.put(newRestore(func(*v1beta2.FoundationDBRestore) {}))

	refused := v.passOver(v.restore, backup.Restore())
	if refused.Outcome != reconcile.Blocked || v.starts() != 0 {
		t.Errorf("into a database with data: %s after %d starts", refused.Outcome, v.starts())
	}
	if status := v.theRestore(); status.Running || status.State != "" {
		t.Errorf("what was refused is noted as started: %+v", status)
	}
	v.fdbcli(`writemode on; clearrange "" \xff`)
	v.passOver(v.restore, backup.Restore())
	v.nodes.FDB.Advance(time.Minute)
	if done := v.passOver(v.restore, backup.Restore()); done.Outcome == reconcile.Failed || done.Outcome == reconcile.Blocked {
		t.Errorf("%s %v", done.Outcome, done.Failures)
	}
	if status := v.theRestore(); status.Running || status.State != v1beta2.RestoreStateCompleted {
		t.Errorf("status %+v", status)
	}
	if got := v.fdbcli("get greeting"); !strings.Contains(got, "hello") {
		t.Errorf("got %s", got)
	}
	v.fdbcli(`writemode on; clearrange "" \xff`)
	if done := v.passOver(v.restore, backup.Restore()); done.Acted != 0 {
		t.Errorf("restored twice: %+v", done)
	}
}

// What was lost on the way may have been done. It is looked at, and not done again.
func TestARestoreStartWithoutAResponseIsNotRepeated(t *testing.T) {
	v := newVault(t)
	v.fdbcli("writemode on; set greeting hello")
	v.settleBackup()
	v.nodes.FDB.Advance(time.Minute)
	v.fdbcli(`writemode on; clearrange "" \xff`)
	v.put(newRestore(func(*v1beta2.FoundationDBRestore) {}))
	v.drop = 1
	v.passOver(v.restore, backup.Restore())
	v.nodes.FDB.Advance(time.Minute)
	v.passOver(v.restore, backup.Restore())
	if status := v.theRestore(); v.starts() != 1 || status.State != v1beta2.RestoreStateCompleted {
		t.Errorf("started %d times, status %+v", v.starts(), status)
	}
}

// starting knows whether a restore is being started now.
type starting struct {
	*live.RestoreCluster
	now bool
}

func (s *starting) Act(ctx context.Context, a plan.Action) error {
	_, s.now = a.(plan.StartRestore)
	defer func() { s.now = false }()
	return s.RestoreCluster.Act(ctx, a)
}

// A start that was never sent leaves no note: the next pass starts the restore.
func TestARestoreStartThatWasNeverSentIsRetriedByTheNextPass(t *testing.T) {
	unresponsive := &admin.TransportError{Started: true, Where: "a pod", Err: context.DeadlineExceeded}
	away := &admin.TransportError{Where: "a pod", Err: errors.New("no route")}
	tests := map[string]struct {
		look error // of the looks of the start itself
		send error
		want v1beta2.FoundationDBRestoreStatus
	}{
		"the look right before it is lost": {look: unresponsive},
		"no agent answers the look":        {look: away},
		"no agent answers the start":       {send: away},
		"the start is lost on its way":     {send: unresponsive, want: v1beta2.FoundationDBRestoreStatus{State: v1beta2.RestoreStateUnknown}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := newVault(t)
			v.fdbcli("writemode on; set greeting hello")
			v.settleBackup()
			v.nodes.FDB.Advance(time.Minute)
			v.fdbcli(`writemode on; clearrange "" \xff`)
			v.put(newRestore(func(*v1beta2.FoundationDBRestore) {}))
			w := &starting{RestoreCluster: v.restore}
			v.problem = func(argv []string) error {
				switch {
				case !strings.HasSuffix(argv[0], "fdbrestore"):
					return nil
				case argv[1] == "start":
					return tt.send
				}
				if w.now {
					return tt.look
				}
				return nil
			}
			v.passOver(w, backup.Restore())
			if got := v.theRestore(); got != tt.want {
				t.Errorf("noted %+v, want %+v", got, tt.want)
			}
			if v.problem = nil; tt.want.State != "" {
				return
			}
			v.passOver(v.restore, backup.Restore())
			if got := v.theRestore(); !got.Running {
				t.Errorf("the next pass did not start it: %+v", got)
			}
		})
	}
}

// Agents of another store may not have the credentials: they are read last, however old
// they are.
func TestRestoreStatusIsReadFirstFromAgentsWithItsCredentials(t *testing.T) {
	v := newVault(t)
	v.settleBackup()
	for name, edit := range map[string]func(*v1beta2.BlobStoreConfiguration){
		"a-other-store": func(b *v1beta2.BlobStoreConfiguration) { b.AccountName = "key@other" },
		"b-other-key":   func(b *v1beta2.BlobStoreConfiguration) { b.AccountName = "another@store" },
		"c-other-place": func(b *v1beta2.BlobStoreConfiguration) { b.BackupName = "weekly" },
	} {
		b := v.theBackup()
		b.ObjectMeta = metav1.ObjectMeta{Name: name, Namespace: key.Namespace}
		b.Spec.BlobStoreConfiguration.BackupName = "nightly"
		edit(b.Spec.BlobStoreConfiguration)
		v.put(b)
		var template corev1.PodTemplateSpec
		template.Labels = map[string]string{v1beta2.LabelDeploymentName: b.DeploymentName()}
		v.runAgent(name, template)
	}
	v.put(newRestore(func(*v1beta2.FoundationDBRestore) {}))
	var requested []string
	v.restore.Transport = func(pod *corev1.Pod) admin.Transport {
		requested = append(requested, pod.Name)
		return agentTransport{v}
	}
	var s plan.Snapshot
	if err := v.restore.Observe(t.Context(), &s, plan.Restore|plan.RestoreStatus); err != nil {
		t.Fatal(err)
	}
	want := []string{"nightly-backup-agents-0", "nightly-backup-agents-1", "c-other-place", "b-other-key", "a-other-store"}
	if diff := cmp.Diff(want, requested); diff != "" || !s.RestoreStatus.Read {
		t.Errorf("asked in another order: %s, %+v", diff, s.RestoreStatus)
	}
}

func TestBackupsAndRestoresAreNotChangedWithoutTheirLease(t *testing.T) {
	v := newVault(t)
	for _, w := range []reconcile.Actor{v.backup, v.restore} {
		if err := w.Act(t.Context(), plan.StartBackup{}); err == nil || !strings.Contains(err.Error(), "no Lease") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAMissingOrInvalidBackupOrRestoreResourceIsReported(t *testing.T) {
	v := newVault(t)
	var s plan.Snapshot
	if err := v.restore.Observe(t.Context(), &s, plan.Restore); err == nil || err.Error() != "FoundationDBRestore again not found in namespace fdb" {
		t.Errorf("got %v", err)
	}
	v.change(func(b *v1beta2.FoundationDBBackup) { b.Spec.BlobStoreConfiguration = nil })
	if err := v.backup.Observe(t.Context(), &s, plan.Backup); err != nil || len(s.InvalidSpec) == 0 || s.InvalidSpec[0].Field != "spec.blobStoreConfiguration" {
		t.Errorf("the errors of the spec are %v, error %v", s.InvalidSpec, err)
	}
	v.change(func(b *v1beta2.FoundationDBBackup) {
		b.Spec.BlobStoreConfiguration = &v1beta2.BlobStoreConfiguration{AccountName: "key@store"}
	})
	if err := v.backup.Observe(t.Context(), &s, plan.Backup); err != nil || len(s.InvalidSpec) > 0 {
		t.Errorf("a corrected spec still has the errors %v, error %v", s.InvalidSpec, err)
	}
}
