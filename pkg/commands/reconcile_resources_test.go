package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/backup"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// vault is a cluster that is up, a backup of it, and a restore into it.
type vault struct {
	*given
	api   client.Client
	files agentFiles
	agent *fdbsim.Agent

	mu sync.Mutex // of what tools note that run at once
	// stuck is true where tools get no answer, and never say so themselves.
	stuck bool
	// answer changes what tools answer; nil for nothing.
	answer func(admin.Result) admin.Result
	// cut has a deletion cut off: it does what a test does of it, and how it ends; nil for none.
	cut func(ctx context.Context) (admin.Result, error)
}

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

func agentEnv() map[string]string {
	return map[string]string{"FDB_CLUSTER_FILE": fdb.BackupClusterFile, "FDB_BLOB_CREDENTIALS": "/credentials"}
}

const storeSecret = "hunter2"

func newVault(t *testing.T) *vault {
	t.Helper()
	v := &vault{given: up(t), files: agentFiles{"/credentials": `{"accounts":{"key@store":{"secret":"` + storeSecret + `"}}}`}}
	v.cluster.FDB.AddBlobStore(fdbsim.BlobStore{Host: "store:443", Secrets: map[string]string{"key": storeSecret}, Buckets: []string{"fdb-backups"}})
	v.files[fdb.BackupClusterFile] = v.cluster.Resource.Status.ConnectionString + "\n"
	place := &v1beta2.BlobStoreConfiguration{AccountName: "key@store", BackupName: "nightly", URLParameters: []v1beta2.URLParameter{"region=eu"}}
	b := &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "fdb", UID: "b", Generation: 1}}
	b.Spec.Version, b.Spec.ClusterName, b.Spec.BlobStoreConfiguration, b.Spec.AgentCount = "7.3.79", "sample", place, new(1)
	r := &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: "again", Namespace: "fdb", UID: "r"}}
	r.Spec.DestinationClusterName, r.Spec.BlobStoreConfiguration = "sample", place
	v.api = fakeAPI(t).WithStatusSubresource(b, r, &appsv1.Deployment{}, &corev1.Pod{}).
		WithObjects(b, r, v.cluster.Resource.DeepCopy()).Build()
	v.record, v.resources = v.open, v.api
	return v
}

func (v *vault) open(e *session.Env, key types.NamespacedName) (session.Session, error) {
	o := live.Options{
		Client: v.api, Key: key, Holder: e.Holder, Clock: v.clock, ClockDifference: v.cluster.Clock, Overrides: e.Overrides,
		Transport: func(*corev1.Pod) admin.Transport { return agentTransport{v} },
		Command:   func(words ...string) string { return e.KubectlIn(key.Namespace, words...) },
	}
	if key.Name == "again" {
		return live.NewRestore(key, o), nil
	}
	return kubelet{live.NewBackup(o), v}, nil
}

// kubelet starts the agents of a deployment before they are observed.
type kubelet struct {
	*live.BackupCluster
	vault *vault
}

func (k kubelet) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	v, d := k.vault, &appsv1.Deployment{}
	if v.api.Get(ctx, types.NamespacedName{Namespace: "fdb", Name: "nightly-backup-agents"}, d) == nil && v.agent == nil {
		v.agent, _ = fdbsim.Of(v.cluster.FDB).StartBackupAgent(fdbsim.Tool{Name: "backup_agent", Version: "7.3.79", Files: v.files, Env: agentEnv()}) //nolint:contextcheck // an agent outlives a look
		pod := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy()}
		pod.Name, pod.Namespace = "agent", "fdb"
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, Ready: true}}}
		if err := v.api.Create(ctx, pod); err != nil {
			return err
		}
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, ReadyReplicas: 1, UpdatedReplicas: 1}
		if err := v.api.Status().Update(ctx, d); err != nil {
			return err
		}
	}
	return k.BackupCluster.Observe(ctx, into, facets)
}

// agentTransport runs the simulated tools in a pod of agents.
type agentTransport struct{ *vault }

func (a agentTransport) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	a.mu.Lock()
	a.ran = append(a.ran, strings.Join(c.Argv, " "))
	stuck := a.stuck
	cut := a.cut
	a.mu.Unlock()
	if cut != nil && c.Tied {
		return cut(ctx)
	}
	if stuck {
		<-ctx.Done()
		return admin.Result{}, ctx.Err()
	}
	var stdout, stderr bytes.Buffer
	argv := append([]string{"timeout", fmt.Sprint(c.Limit.Seconds())}, c.Argv...)
	exit := fdbsim.Of(a.cluster.FDB).RunCommand(ctx, argv, fdbsim.Tool{Version: "7.3.79", Files: a.files, Env: agentEnv(), Stdout: &stdout, Stderr: &stderr})
	result := admin.Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: exit}
	if a.answer != nil {
		return a.answer(result), nil
	}
	return result, nil
}

func (agentTransport) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, fmt.Errorf("backup tools are unreachable")
}

func (v *vault) fdbcli(line string) string {
	v.t.Helper()
	r, err := agentTransport{v}.Run(v.t.Context(), admin.Command{Argv: []string{"fdbcli", "-C", fdb.BackupClusterFile, "--exec", line}, Limit: time.Minute})
	if err != nil || r.ExitCode != 0 {
		v.t.Fatalf("%s: %+v %v", line, r, err)
	}
	return string(r.Stdout)
}

func TestReconcileRunsABackupAndARestoreToCompletion(t *testing.T) {
	v := newVault(t)
	v.fdbcli("writemode on; set greeting hello")
	must := func(want int, says string, args ...string) {
		t.Helper()
		if got := v.run(args...); got != want || !strings.Contains(v.out.String()+v.err.String(), says) {
			t.Errorf("%v: exit code %d, want %d, and %q\nstdout: %s\nstderr: %s", args, got, want, says, &v.out, &v.err)
		}
		if strings.Contains(v.out.String()+v.err.String()+strings.Join(v.ran, "\n"), storeSecret) {
			t.Errorf("%v: the secret was printed or run", args)
		}
	}
	must(exit.ExitNo, "ApplyAgents", "reconcile", "fdbbackup/nightly", "--dry-run")
	must(exit.ExitDone, "start a backup on tag default", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
	must(exit.ExitDone, "fdbbackup/nightly: already reconciled, no changes", "reconcile", "foundationdbbackup/nightly", "--yes")
	v.cluster.FDB.Advance(time.Minute)
	must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "-o", "json")
	must(exit.ExitRefused, "a restore never overwrites data", "reconcile", "fdbrestore/again", "--yes")
	v.fdbcli(`writemode on; clearrange "" \xff`)
	must(exit.ExitDone, "the restore is completed", "reconcile", "fdbrestore/again", "--yes", "--wait")
	if got := v.fdbcli("get greeting"); !strings.Contains(got, "hello") {
		t.Errorf("got %s", got)
	}
	v.checkAudit()
}

// checkAudit verifies that the audit has every action with its subject, and no secret.
func (v *vault) checkAudit() {
	v.t.Helper()
	var text []byte
	err := filepath.WalkDir(v.env["XDG_STATE_HOME"], func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, err = os.ReadFile(path)
		}
		return err
	})
	if err != nil || bytes.Contains(text, []byte(storeSecret)) {
		v.t.Errorf("the audit holds a secret, or cannot be read: %v", err)
	}
	for _, want := range []string{`"fdbbackup/nightly"`, `"fdbrestore/again"`, `"StartRestore"`} {
		if !bytes.Contains(text, []byte(want)) {
			v.t.Errorf("the audit lacks %s", want)
		}
	}
	for line := range bytes.Lines(text) {
		if !json.Valid(line) {
			v.t.Errorf("not JSON: %s", line)
		}
	}
}

func TestReconcileOfABackupOrRestoreRejectsInvalidArguments(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
		says string
	}{
		"no name":                  {[]string{"fdbbackup/", "--yes"}, exit.ExitUsage, "name is required: fdbbackup/NAME"},
		"a cluster as well":        {[]string{"fdbbackup/nightly", "-c", "sample", "--yes"}, exit.ExitUsage, "conflicts with cluster sample"},
		"--watch":                  {[]string{"fdbbackup/nightly", "--watch", "--yes"}, exit.ExitUsage, "--watch requires a cluster"},
		"--adopt":                  {[]string{"fdbrestore/again", "--adopt", "--yes"}, exit.ExitUsage, "require a cluster"},
		"a plan that is none":      {[]string{"fdbrestore/again", "--plan", "plan.json", "--yes"}, exit.ExitUsage, "invalid --plan"},
		"--confirm of a restore":   {[]string{"fdbrestore/again", "--confirm", "again", "--yes"}, exit.ExitUsage, "--confirm requires reconcile fdbbackup/NAME"},
		"--confirm of a cluster":   {[]string{"sample", "--confirm", "sample", "--yes"}, exit.ExitUsage, "--confirm requires reconcile fdbbackup/NAME"},
		"another name":             {[]string{"fdbbackup/nightly", "--confirm", "weekly", "--yes"}, exit.ExitUnconfirmed, "--confirm weekly does not match the name of the backup"},
		"a step of a cluster":      {[]string{"fdbbackup/nightly", "--only", "AddPods", "--yes"}, exit.ExitUsage, "must be one of CarryOutDeletion, UpdateBackupStatus"},
		"not approved":             {[]string{"fdbbackup/nightly"}, exit.ExitUnconfirmed, "--yes"},
		"a backup unknown":         {[]string{"fdbbackup/other", "--yes"}, exit.ExitUsage, "FoundationDBBackup other not found in namespace fdb"},
		"a restore without agents": {[]string{"fdbrestore/again", "--yes"}, exit.ExitWaiting, "no pod of a backup agent is ready"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := newVault(t)
			if got := v.run(append([]string{"reconcile"}, tt.args...)...); got != tt.want || !strings.Contains(v.out.String()+v.err.String(), tt.says) {
				t.Errorf("exit code %d, want %d, and %q\nstdout: %s\nstderr: %s", got, tt.want, tt.says, &v.out, &v.err)
			}
		})
	}
}

func TestAMissingPermissionIsReportedBeforeABackupIsChanged(t *testing.T) {
	v := newVault(t)
	v.denied = []string{"create deployments.apps"}
	if got := v.run("reconcile", "fdbbackup/nightly", "--yes"); got != exit.ExitForbidden || !strings.Contains(v.err.String(), "create deployments.apps (nothing was changed)") {
		t.Errorf("exit code %d: %s", got, &v.err)
	}
	if len(backup.Backup()) == 0 || len(v.ran) > 0 {
		t.Errorf("ran %v", v.ran)
	}
}
