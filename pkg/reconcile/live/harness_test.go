package live_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin/admintest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// field is a Kubernetes cluster in memory with one FoundationDBCluster: a fake API
// server, nodes that run what its pods say, and a simulated FoundationDB.
type field struct {
	t *testing.T
	// api is the cluster's own side of the API server: not counted, never refused.
	api client.WithWatch
	// nodes hold the pods' processes.
	nodes   *sim.Cluster
	cluster *live.Cluster
	log     *requestLog
	mu      sync.Mutex // for files: tools run at the same time
	files   map[string]*podFiles
	// program, when not nil, runs instead of the simulated fdbcli.
	program func(admin.Command) (admin.Result, error)
	// dirs, when not nil, is what the script that reads data directories prints in a pod.
	dirs func(pod string) (admin.Result, error)
}

var key = types.NamespacedName{Namespace: "fdb", Name: "sample"}

func sample() *v1beta2.FoundationDBCluster {
	return &v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace, UID: "1", Generation: 1},
		Spec:       v1beta2.FoundationDBClusterSpec{Version: "7.3.79"},
	}
}

// kinds are the scheme of a fake client, and the type converters that one has by default. Both are built once: that
// takes longer than most tests, and nothing changes them later.
var kinds = sync.OnceValues(func() (*runtime.Scheme, []managedfields.TypeConverter) {
	s, kubernetes := runtime.NewScheme(), runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, policyv1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, coordinationv1.AddToScheme, authorizationv1.AddToScheme, storagev1.AddToScheme, v1beta2.AddToScheme} {
		utilruntime.Must(add(s))
	}
	utilruntime.Must(clientgoscheme.AddToScheme(kubernetes))
	return s, []managedfields.TypeConverter{applyconfigurations.NewTypeConverter(kubernetes), managedfields.NewDeducedTypeConverter()}
})

// fakeAPI begins a fake client with all kinds that this package reads.
func fakeAPI() *fake.ClientBuilder {
	s, converters := kinds()
	return fake.NewClientBuilder().WithScheme(s).WithTypeConverters(converters...)
}

// newField is a field on which only the resource and the objects given exist.
func newField(t *testing.T, cluster *v1beta2.FoundationDBCluster, objects ...client.Object) *field {
	t.Helper()
	nodes, err := sim.New(sample(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return fieldOver(t, nodes, cluster, objects...)
}

func fieldOver(t *testing.T, nodes *sim.Cluster, cluster *v1beta2.FoundationDBCluster, objects ...client.Object) *field {
	t.Helper()
	f := &field{t: t, nodes: nodes, log: &requestLog{}, files: map[string]*podFiles{}}
	copies := make([]client.Object, len(objects))
	for i, o := range objects {
		copies[i] = o.DeepCopyObject().(client.Object)
	}
	f.api = fakeAPI().WithStatusSubresource(&v1beta2.FoundationDBCluster{}, &v1beta2.FoundationDBBackup{}, &v1beta2.FoundationDBRestore{}, &corev1.Pod{}).
		WithObjects(cluster.DeepCopy()).WithObjects(copies...).Build()
	nonce := 0
	f.cluster = live.New(live.Options{
		Client: f.log.before(f.api), Key: key, Holder: "ann@laptop process 7", Clock: simClock{clocktesting.NewFakeClock(sim.Noon), fdbsim.Of(nodes.FDB)},
		Nonce:     func() string { nonce++; return fmt.Sprintf("nonce-%d", nonce) },
		Transport: func(pod *corev1.Pod) admin.Transport { return podTransport{f, pod.Name} },
	})
	return f
}

// tick lets d pass on the nodes.
func (f *field) tick(d time.Duration) {
	f.t.Helper()
	ctx := f.t.Context()
	f.nodes.Resource = f.resource()
	cm := &corev1.ConfigMap{}
	if err := f.api.Get(ctx, types.NamespacedName{Namespace: key.Namespace, Name: key.Name + "-config"}, cm); err == nil {
		f.nodes.ConfigMap = cm
	}
	pods := &corev1.PodList{}
	if err := f.api.List(ctx, pods); err != nil {
		f.t.Fatal(err)
	}
	before := map[string]*corev1.Pod{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		before[pod.Name] = pod.DeepCopy()
		f.nodes.Pods[pod.Name] = pod
	}
	f.mirrorVolumes()
	f.nodes.Tick(d)
	for name, pod := range f.nodes.Pods {
		f.publish(before[name], pod.DeepCopy())
	}
}

// mirrorVolumes shows the nodes the PVCs that exist: no pod starts without its own.
func (f *field) mirrorVolumes() {
	f.t.Helper()
	claims := &corev1.PersistentVolumeClaimList{}
	if err := f.api.List(f.t.Context(), claims); err != nil {
		f.t.Fatal(err)
	}
	clear(f.nodes.Volumes)
	for i := range claims.Items {
		f.nodes.Volumes[claims.Items[i].Name] = &claims.Items[i]
	}
}

// publish stores what the nodes changed of a pod.
func (f *field) publish(before, after *corev1.Pod) {
	f.t.Helper()
	if before.ResourceVersion == "" || equalPods(before, after) {
		return
	}
	status := after.Status
	if err := f.api.Update(f.t.Context(), after); err != nil {
		f.t.Fatal(err)
	}
	after.Status = status
	if err := f.api.Status().Update(f.t.Context(), after); err != nil {
		f.t.Fatal(err)
	}
}

func equalPods(a, b *corev1.Pod) bool {
	return a.Spec.NodeName == b.Spec.NodeName && a.Status.Phase == b.Status.Phase && a.Status.PodIP == b.Status.PodIP &&
		a.Annotations[v1beta2.AnnotationCurrentConfiguration] == b.Annotations[v1beta2.AnnotationCurrentConfiguration] &&
		a.Annotations[v1beta2.AnnotationEnvironment] == b.Annotations[v1beta2.AnnotationEnvironment]
}

func (f *field) resource() *v1beta2.FoundationDBCluster {
	f.t.Helper()
	cluster := &v1beta2.FoundationDBCluster{}
	if err := f.api.Get(f.t.Context(), key, cluster); err != nil {
		f.t.Fatal(err)
	}
	return cluster
}

// setStatus changes the stored status.
func (f *field) setStatus(edit func(*v1beta2.FoundationDBClusterStatus)) {
	f.t.Helper()
	cluster := f.resource()
	edit(&cluster.Status)
	if err := f.api.Status().Update(f.t.Context(), cluster); err != nil {
		f.t.Fatal(err)
	}
}

// setSpec changes the stored spec.
func (f *field) setSpec(edit func(*v1beta2.FoundationDBClusterSpec)) {
	f.t.Helper()
	cluster := f.resource()
	edit(&cluster.Spec)
	if err := f.api.Update(f.t.Context(), cluster); err != nil {
		f.t.Fatal(err)
	}
}

func (f *field) observe(facets plan.Facet) plan.Snapshot {
	f.t.Helper()
	var s plan.Snapshot
	if err := f.cluster.Observe(f.t.Context(), &s, facets); err != nil {
		f.t.Fatal(err)
	}
	return s
}

// begin takes the Lease, after everything was observed once.
func (f *field) begin() {
	f.t.Helper()
	f.observe(plan.Everything)
	if err := f.cluster.Begin(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = f.cluster.End(context.Background()) })
}

// pass runs one pass of all stages.
func (f *field) pass() reconcile.PassDone {
	f.t.Helper()
	p := reconcile.Pass{Stages: stages.Cluster(), Observer: f.cluster, Actor: f.cluster, Seed: 42, Report: func(reconcile.Event) {}}
	done, err := p.Run(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return done
}

// settle runs passes until one has nothing to do.
func (f *field) settle(most int) {
	f.t.Helper()
	var done reconcile.PassDone
	for range most {
		if done = f.pass(); done.Outcome == reconcile.Done {
			return
		}
		f.tick(max(done.RetryAfter, 5*time.Second))
	}
	f.t.Fatalf("not settled after %d passes: %s, %v", most, done.Outcome, done.Failures)
}

// settled is a cluster that was brought up before, in the small world of the
// engine's own tests, and moved behind an API server.
func settled(t *testing.T) *field {
	t.Helper()
	return settledAs(t, sample())
}

func settledAs(t *testing.T, cluster *v1beta2.FoundationDBCluster) *field {
	t.Helper()
	nodes, err := sim.New(cluster, 1)
	if err != nil {
		t.Fatal(err)
	}
	for range 14 {
		p := reconcile.Pass{Stages: stages.Cluster(), Observer: nodes, Actor: nodes, Seed: 42, Report: func(reconcile.Event) {}}
		done, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if done.Outcome == reconcile.Done {
			return moved(t, nodes)
		}
		nodes.Tick(max(done.RetryAfter, 5*time.Second))
	}
	t.Fatal("the cluster does not settle")
	return nil
}

func moved(t *testing.T, nodes *sim.Cluster) *field {
	t.Helper()
	all := []client.Object{nodes.ConfigMap}
	for _, o := range nodes.Pods {
		all = append(all, o)
	}
	for _, o := range nodes.Volumes {
		all = append(all, o)
	}
	for _, o := range nodes.Services {
		all = append(all, o)
	}
	return fieldOver(t, nodes, nodes.Resource, all...)
}

// requestLog counts the requests to the API server, and refuses what a test selects.
type requestLog struct {
	mu   sync.Mutex
	seen []string
	// refuse returns an error for requests that should fail.
	refuse func(request string) error
	// permitted answers whether the user may do anything.
	permitted bool
	// answer may change what a list request returned.
	answer func(list client.ObjectList, options client.ListOptions) error
}

func (l *requestLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = nil
}

func (l *requestLog) note(verb string, o any, name string) error {
	request := strings.TrimSpace(fmt.Sprintf("%s %s %s", verb, strings.TrimPrefix(fmt.Sprintf("%T", o)[strings.LastIndex(fmt.Sprintf("%T", o), "."):], "."), name))
	l.mu.Lock()
	l.seen = append(l.seen, request)
	refuse := l.refuse
	l.mu.Unlock()
	if refuse == nil {
		return nil
	}
	return refuse(request)
}

func (l *requestLog) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.seen)
}

// those returns the requests of some verbs.
func (l *requestLog) those(verbs ...string) []string {
	return slices.DeleteFunc(l.all(), func(request string) bool {
		verb, _, _ := strings.Cut(request, " ")
		return !slices.Contains(verbs, verb)
	})
}

func (l *requestLog) writes() []string {
	return l.those("create", "update", "patch", "delete", "status")
}

// before returns a client that logs each request and then makes it.
func (l *requestLog) before(api client.WithWatch) client.Client {
	return interceptor.NewClient(api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := l.note("get", o, k.Name); err != nil {
				return err
			}
			return c.Get(ctx, k, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if err := l.note("list", list, ""); err != nil {
				return err
			}
			if l.answer != nil {
				var o client.ListOptions
				return l.answer(list, *o.ApplyOptions(opts))
			}
			return c.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if err := l.note("create", o, o.GetName()); err != nil {
				return err
			}
			if review, is := o.(*authorizationv1.SelfSubjectAccessReview); is {
				review.Status.Allowed = l.permitted
				return nil
			}
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if err := l.note("update", o, o.GetName()); err != nil {
				return err
			}
			return c.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			data, err := p.Data(o)
			if err != nil {
				return err
			}
			if err := l.note("patch", o, o.GetName()+" "+string(data)); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if err := l.note("delete", o, o.GetName()); err != nil {
				return err
			}
			return c.Delete(ctx, o, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			if err := l.note(sub, o, o.GetName()); err != nil {
				return err
			}
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
	})
}

// podTransport runs the simulated tools in a pod.
type podTransport struct {
	field *field
	pod   string
}

func (p podTransport) Run(ctx context.Context, c admin.Command) (admin.Result, error) {
	_ = p.field.log.note("exec", c, p.pod+" "+strings.Join(c.Argv, " "))
	if p.field.dirs != nil && slices.Contains(c.Argv, datadir.Mount) {
		return p.field.dirs(p.pod)
	}
	if p.field.program != nil {
		return p.field.program(c)
	}
	if slices.Contains(c.Argv, datadir.Mount) { // tools that cannot read files, so that the status decides
		return p.field.blankDir(p.pod, "unknown") //nolint:contextcheck // pods are read with the test's context
	}
	var stdout, stderr bytes.Buffer
	exit := fdbsim.Of(p.field.nodes.FDB).RunCommand(ctx, c.Argv, p.tool(c.Stdin, &stdout, &stderr)) //nolint:contextcheck // files are read with the test's context
	return admin.Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: exit}, nil
}

func (p podTransport) Open(ctx context.Context, c admin.Command) (*admin.Session, error) {
	_ = p.field.log.note("exec", c, p.pod+" "+strings.Join(c.Argv, " "))
	return admintest.Serve(ctx, func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
		return fdbsim.Of(p.field.nodes.FDB).RunCommand(ctx, c.Argv, p.tool(stdin, stdout, stderr)) //nolint:contextcheck // files are read with the test's context
	}), nil
}

func (p podTransport) tool(stdin io.Reader, stdout, stderr io.Writer) fdbsim.Tool {
	p.field.mu.Lock()
	defer p.field.mu.Unlock()
	files := p.field.files[p.pod]
	if files == nil {
		files = &podFiles{clusterFile: func() string { return p.field.resource().Status.ConnectionString }}
		p.field.files[p.pod] = files
	}
	return fdbsim.Tool{Version: "7.3.79", Files: files, Stdin: stdin, Stdout: stdout, Stderr: stderr}
}

// podFiles are the cluster files of a pod: what the resource reports, until a tool knows better.
type podFiles struct {
	clusterFile func() string
	mu          sync.Mutex
	written     []byte
}

func (p *podFiles) ReadFile(name string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name != admin.LiveClusterFile {
		return nil, fmt.Errorf("no file %s", name)
	}
	if p.written != nil {
		return p.written, nil
	}
	return []byte(p.clusterFile()), nil
}

func (p *podFiles) WriteFile(_ string, content []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written = content
	return nil
}

func (p *podFiles) Writable(name string) bool { return name == admin.LiveClusterFile }

// simClock shows the simulation's time and lets it pass instead of waiting. Its
// tickers never fire.
type simClock struct {
	clock.WithTicker
	cluster *fdbsim.Simulation
}

func (c simClock) Now() time.Time                  { return c.cluster.Now() }
func (c simClock) Since(t time.Time) time.Duration { return c.cluster.Now().Sub(t) }

func (c simClock) NewTimer(d time.Duration) clock.Timer {
	c.cluster.Advance(d)
	once := clocktesting.NewFakeClock(c.cluster.Now())
	timer := once.NewTimer(d)
	once.Step(d)
	return timer
}

// cli is a client of the database on the cluster's own side: its requests are not counted.
func (f *field) cli() *admin.FDBCLI {
	f.t.Helper()
	other := &field{t: f.t, api: f.api, nodes: f.nodes, log: &requestLog{}, files: map[string]*podFiles{}}
	return admin.NewFDBCLI(podTransport{other, "elsewhere"}, admin.FDBCLIOptions{
		Clock: f.cluster.Clock, Jitter: func(d time.Duration) time.Duration { return d },
	})
}

// put writes keys of the database.
func (f *field) put(mutations ...admin.Mutation) {
	f.t.Helper()
	if _, err := f.cli().Txn(f.t.Context(), nil, func(admin.View) ([]admin.Mutation, error) { return mutations, nil }); err != nil {
		f.t.Fatal(err)
	}
}

// lockIn returns the lock record in the database; nil when there is none.
func (f *field) lockIn(prefix string) *fdb.Lock {
	f.t.Helper()
	lock, _, err := admin.ReadLock(f.t.Context(), f.cli(), fdb.LockKeys{Prefix: prefix})
	if err != nil {
		f.t.Fatal(err)
	}
	return lock
}

func clusterStages() []plan.Stage { return stages.Cluster() }

// passWithout runs a pass that leaves one stage out.
func (f *field) passWithout(name plan.StageName) {
	f.t.Helper()
	list := slices.DeleteFunc(stages.Cluster(), func(s plan.Stage) bool { return s.Name == name })
	p := reconcile.Pass{Stages: list, Observer: f.cluster, Actor: f.cluster, Seed: 42, Report: func(reconcile.Event) {}}
	if _, err := p.Run(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// named is the key of an object beside the resource.
func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: key.Namespace, Name: name}
}
