package commandstest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// Vault is a cluster that is up, a backup of it, and a restore into it.
type Vault struct {
	*Given
	API   client.Client
	Files agentFiles
	agent *fdbsim.Agent

	mu sync.Mutex // of what tools note that run at once
	// Stuck is true where tools get no answer, and never say so themselves.
	Stuck bool
	// Answer changes what tools answer; nil for nothing.
	Answer func(admin.Result) admin.Result
	// Cut has a deletion cut off: it does what a test does of it, and how it ends; nil for none.
	Cut func(ctx context.Context) (admin.Result, error)
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

// StoreSecret is the secret of the store, which nothing may print.
const StoreSecret = "hunter2"

// NewVault is a reconciled cluster with a backup and a restore that nothing was done for yet.
func NewVault(t *testing.T) *Vault {
	t.Helper()
	v := &Vault{Given: Up(t), Files: agentFiles{"/credentials": `{"accounts":{"key@store":{"secret":"` + StoreSecret + `"}}}`}}
	v.Cluster.FDB.AddBlobStore(fdbsim.BlobStore{Host: "store:443", Secrets: map[string]string{"key": StoreSecret}, Buckets: []string{"fdb-backups"}})
	v.Files[fdb.BackupClusterFile] = v.Cluster.Resource.Status.ConnectionString + "\n"
	place := &v1beta2.BlobStoreConfiguration{AccountName: "key@store", BackupName: "nightly", URLParameters: []v1beta2.URLParameter{"region=eu"}}
	b := &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "fdb", UID: "b", Generation: 1}}
	b.Spec.Version, b.Spec.ClusterName, b.Spec.BlobStoreConfiguration, b.Spec.AgentCount = "7.3.79", "sample", place, new(1)
	r := &v1beta2.FoundationDBRestore{ObjectMeta: metav1.ObjectMeta{Name: "again", Namespace: "fdb", UID: "r"}}
	r.Spec.DestinationClusterName, r.Spec.BlobStoreConfiguration = "sample", place
	v.API = fakeAPI(t).WithStatusSubresource(b, r, &appsv1.Deployment{}, &corev1.Pod{}).
		WithObjects(b, r, v.Cluster.Resource.DeepCopy()).Build()
	v.Record, v.resources = v.Open, v.API
	return v
}

// Open opens the backup or the restore.
func (v *Vault) Open(e *session.Env, key types.NamespacedName) (session.Session, error) {
	o := live.Options{
		Client: v.API, Key: key, Holder: session.LeaseHolder(e), Clock: v.Clock, ClockDifference: v.Cluster.Clock, Overrides: e.Run.Overrides,
		Transport: func(*corev1.Pod) admin.Transport { return agentTransport{v} },
		Command:   func(words ...string) string { return e.KubectlIn(key.Namespace, words...) },
	}
	if v.Proposes {
		o.Client = resourcesThrough{v.API, e}
	}
	if key.Name == "again" {
		return live.NewRestore(key, o), nil
	}
	return kubelet{live.NewBackup(o), v}, nil
}

// kubelet starts the agents of a deployment before they are observed.
type kubelet struct {
	*live.BackupCluster
	vault *Vault
}

func (k kubelet) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	v, d := k.vault, &appsv1.Deployment{}
	if v.API.Get(ctx, types.NamespacedName{Namespace: "fdb", Name: "nightly-backup-agents"}, d) == nil && v.agent == nil {
		v.agent, _ = fdbsim.Of(v.Cluster.FDB).StartBackupAgent(fdbsim.Tool{Name: "backup_agent", Version: "7.3.79", Files: v.Files, Env: agentEnv()}) //nolint:contextcheck // an agent outlives a look
		pod := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy()}
		pod.Name, pod.Namespace = "agent", "fdb"
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, Ready: true}}}
		if err := v.API.Create(ctx, pod); err != nil {
			return err
		}
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, ReadyReplicas: 1, UpdatedReplicas: 1}
		if err := v.API.Status().Update(ctx, d); err != nil {
			return err
		}
	}
	return k.BackupCluster.Observe(ctx, into, facets)
}

// agentTransport runs the simulated tools in a pod of agents.
type agentTransport struct{ *Vault }

func (a agentTransport) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	a.mu.Lock()
	a.Ran = append(a.Ran, strings.Join(c.Argv, " "))
	stuck := a.Stuck
	cut := a.Cut
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
	exit := fdbsim.Of(a.Cluster.FDB).RunCommand(ctx, argv, fdbsim.Tool{Version: "7.3.79", Files: a.Files, Env: agentEnv(), Stdout: &stdout, Stderr: &stderr})
	result := admin.Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: exit}
	if a.Answer != nil {
		return a.Answer(result), nil
	}
	return result, nil
}

func (agentTransport) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, fmt.Errorf("backup tools are unreachable")
}

// Fdbcli runs a command of fdbcli in a pod of agents.
func (v *Vault) Fdbcli(line string) string {
	v.T.Helper()
	r, err := agentTransport{v}.Run(v.T.Context(), admin.Command{Argv: []string{"fdbcli", "-C", fdb.BackupClusterFile, "--exec", line}, Limit: time.Minute})
	if err != nil || r.ExitCode != 0 {
		v.T.Fatalf("%s: %+v %v", line, r, err)
	}
	return string(r.Stdout)
}

// CheckAudit verifies that the audit has every action with its subject, and no secret.
func (v *Vault) CheckAudit() {
	v.T.Helper()
	var text []byte
	err := filepath.WalkDir(v.Env["XDG_STATE_HOME"], func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, err = os.ReadFile(path)
		}
		return err
	})
	if err != nil || bytes.Contains(text, []byte(StoreSecret)) {
		v.T.Errorf("the audit holds a secret, or cannot be read: %v", err)
	}
	for _, want := range []string{`"fdbbackup/nightly"`, `"fdbrestore/again"`, `"StartRestore"`} {
		if !bytes.Contains(text, []byte(want)) {
			v.T.Errorf("the audit lacks %s", want)
		}
	}
	for line := range bytes.Lines(text) {
		if !json.Valid(line) {
			v.T.Errorf("not JSON: %s", line)
		}
	}
}

var (
	exampleLine = regexp.MustCompile(`^(?:source <\()?kubectl[ -]fdb ([^|>)]*)[|)]?(?:> (\S+))?`)
	// ExampleWord is a word of an example, in quotes or not.
	ExampleWord = regexp.MustCompile(`(?:[^\s"]|"[^"]*")+`)
	exampleID   = regexp.MustCompile(`\b(storage|log)-\d+\b`)
)

// ExampleWords are the arguments of an example, about what there is here, and the file that
// its output goes to. There are none in other lines.
func (v *Vault) ExampleWords(line, dir string) (words []string, to string) {
	parts := exampleLine.FindStringSubmatch(line)
	if parts == nil {
		return nil, ""
	}
	first := map[string]*v1beta2.ProcessGroupStatus{}
	for _, g := range v.Cluster.Resource.Status.ProcessGroups {
		if first[string(g.ProcessClass)] == nil {
			first[string(g.ProcessClass)] = g
		}
	}
	here := strings.NewReplacer("sample-cluster", "sample", "sample-backup", "nightly", "sample-restore", "again", "nightly-again", "again",
		"deploy/", filepath.Join(dir, "deploy")+"/", "10.1.0.7:4501", first["storage"].Addresses[0], ":8080", ":0", "2026-11-21T12", "2026-11-20T12", "plan.json", filepath.Join(dir, "plan.json"), "man1", filepath.Join(dir, "man1"), "report.xml", filepath.Join(dir, "report.xml"), "sample.tar.zst", filepath.Join(dir, "sample.tar.zst"),
		"maintenance on sample-cluster node-3", "maintenance on sample "+string(first["storage"].FaultDomain))
	text := parts[1]
	if !strings.Contains(text, ":removed") { // a removed group
		text = exampleID.ReplaceAllStringFunc(text, func(id string) string {
			class, _, _ := strings.Cut(id, "-")
			return string(first[class].ProcessGroupID)
		})
	}
	for _, word := range ExampleWord.FindAllString(here.Replace(text), -1) {
		words = append(words, strings.ReplaceAll(word, `"`, ""))
	}
	if parts[2] != "" {
		to = filepath.Join(dir, parts[2])
	}
	return words, to
}

// Attendance is who else acts on all clusters, backups and restores, and how often a command began to change one.
type Attendance struct {
	Other   *reconcile.Operation
	Refuses bool
	Begun   int
	Ended   int
	Own     []reconcile.Operation
}

// attended is a session with others around.
type attended struct {
	session.Session
	of *Attendance
}

func (a attended) Begin(ctx context.Context) error {
	a.of.Begun++
	return a.Session.Begin(ctx)
}

func (a attended) Gates(_ context.Context, o live.GateOptions) ([]plan.Check, error) {
	return []plan.Check{{ID: plan.CheckNoOperator, Gate: plan.GateOperator, OK: !a.of.Refuses || o.Coexist}}, nil
}

func (a attended) Operations() reconcile.OperationKeeper { return a.of }

// OtherOperation implements reconcile.OperationKeeper.
func (a *Attendance) OtherOperation(context.Context) (*reconcile.Operation, error) {
	return a.Other, nil
}

// RefuseBesideOthers implements reconcile.OperationKeeper.
func (*Attendance) RefuseBesideOthers() {}

// SetOperation implements reconcile.OperationKeeper.
func (a *Attendance) SetOperation(o reconcile.Operation) { a.Own = append(a.Own, o) }

// KeepOperation implements reconcile.OperationKeeper.
func (*Attendance) KeepOperation(context.Context) error { return nil }

// EndOperation implements reconcile.OperationKeeper.
func (a *Attendance) EndOperation(context.Context) error { a.Ended++; return nil }

// AbortRequest implements reconcile.OperationKeeper.
func (*Attendance) AbortRequest(context.Context) (*reconcile.OperationAbort, error) { return nil, nil }

// RenewOperation implements reconcile.OperationKeeper.
func (*Attendance) RenewOperation(context.Context, reconcile.OperationProgress) error { return nil }

// Attend has all commands meet others at the cluster.
func (g *Given) Attend() *Attendance {
	of := &Attendance{}
	g.Connect = func() (session.Session, error) { return attended{Simulated{g.Cluster, g}, of}, nil }
	return of
}

// Attend has all commands of a vault meet others.
func (v *Vault) Attend() *Attendance {
	of := v.Given.Attend()
	v.Record = func(e *session.Env, key types.NamespacedName) (session.Session, error) {
		s, err := v.Open(e, key)
		return attended{s, of}, err
	}
	return of
}

// InRegions has the spec name regions that the database does not have yet.
func (v *Vault) InRegions(database, primary string) {
	region := func(dc string, priority int) v1beta2.Region {
		return v1beta2.Region{Datacenters: []v1beta2.DataCenter{{ID: dc, Priority: priority}}}
	}
	spec := &v.Cluster.Resource.Spec
	spec.DataCenter, spec.LockOptions.DisableLocks = database, new(true)
	spec.DatabaseConfiguration.UsableRegions = 2
	spec.DatabaseConfiguration.Regions = []v1beta2.Region{region(database, 0), region(primary, 1)}
}

// Locked makes the cluster one of several control-plane instances of its database.
func (v *Vault) Locked() {
	v.Cluster.Resource.Spec.ProcessGroupIDPrefix, v.Cluster.Resource.Spec.LockOptions.DisableLocks = "dc1", new(bool)
}

// Group returns the ID of the first process group of a class.
func (v *Vault) Group(class string) string {
	for _, g := range v.Cluster.Resource.Status.ProcessGroups {
		if string(g.ProcessClass) == class {
			return string(g.ProcessGroupID)
		}
	}
	v.T.Fatalf("no %s process group", class)
	return ""
}
