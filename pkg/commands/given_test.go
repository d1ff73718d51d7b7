package commands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// given is everything around one run of the program, in memory.
type given struct {
	t       *testing.T
	cluster *sim.Cluster
	// gates are answered to every pass; nil for none.
	gates []plan.Check
	// denied are the RBAC powers that we do not have.
	denied []string
	// nodesHidden, eventsHidden and backupsHidden are what listing them meets; nil for nothing.
	nodesHidden, eventsHidden, backupsHidden error
	// resources has the backups and restores; nil where objects have them.
	resources client.Client
	// nodes changes each node before it is read; nil for nothing.
	nodes func(*corev1.Node)
	// evictor is the user of the requests to the eviction webhook.
	evictor string
	// objects are in the API server besides the simulated resources.
	objects []client.Object
	// events are those that were written on the cluster.
	events []*corev1.Event
	// input is typed on the terminal; without one there is no terminal.
	input *string
	// terminal is true if all streams are terminals.
	terminal bool
	env      map[string]string
	// follower stands for the watch on changes.
	follower *follower
	// tool is what programs meet in pods; ran and read are what it met.
	tool func(pod *corev1.Pod, container string) (admin.Transport, error)
	ran  []string
	read string
	// logs opens the logs of pods.
	logs func(ctx context.Context, namespace, pod string, o *corev1.PodLogOptions) (io.ReadCloser, error)
	// connect replaces the session; nil is the simulated cluster.
	connect func() (session.Session, error)
	// record opens a backup or a restore.
	record func(e *session.Env, key types.NamespacedName) (session.Session, error)

	// server answers what no client asks of the API server; empty is one that cannot be reached.
	server string

	// columns is the width of a terminal; 0 is unknown.
	columns int

	clock *clusterClock
	// now is another clock, for concurrent tests; nil is the simulated one.
	now      clock.WithTicker
	seed     uint64 // of the next runs; 42 when it is 0
	endErr   error  // the release the Lease and the lock
	coexist  bool   // what the gates were last asked with
	out, err bytes.Buffer
}

// newCluster is a cluster of which only the custom resource exists.
func newCluster(t *testing.T) *sim.Cluster {
	t.Helper()
	w, err := sim.New(&v1beta2.FoundationDBCluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: "FoundationDBCluster"},
		ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb", UID: "1", Generation: 1},
		Spec: v1beta2.FoundationDBClusterSpec{
			Version:       "7.3.79",
			ProcessCounts: v1beta2.ProcessCounts{Storage: 3, Log: 3, Stateless: 3},
		},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func newGiven(t *testing.T) *given {
	t.Helper()
	w := newCluster(t)
	return &given{t: t, cluster: w, env: map[string]string{"XDG_STATE_HOME": t.TempDir()}, clock: &clusterClock{cluster: w}}
}

// up is a reconciled cluster.
func up(t *testing.T) *given {
	t.Helper()
	g := newGiven(t)
	if code := g.run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	return g
}

// run runs one command line and returns the exit code; out and err hold what it printed.
func (g *given) run(args ...string) int {
	g.t.Helper()
	return g.runIn(g.t.Context(), args...)
}

func (g *given) runIn(ctx context.Context, args ...string) int {
	g.t.Helper()
	g.out.Reset()
	g.err.Reset()
	code := Run(ctx, g.environment(), args)
	if jsonRequested(args) { // whatever a test is about, JSON is what schemas say
		valid(g.t, strings.Join(args, " "), g.out.Bytes())
		for line := range bytes.Lines(g.err.Bytes()) {
			if bytes.HasPrefix(line, []byte("{")) {
				valid(g.t, strings.Join(args, " ")+", stderr", line)
			}
		}
	}
	return code
}

func (g *given) environment() *session.Env {
	g.t.Helper()
	kube := genericclioptions.NewConfigFlags(false)
	*kube.KubeConfig = g.kubeconfig()
	var in io.Reader = strings.NewReader("")
	if g.input != nil {
		in = iotest.OneByteReader(strings.NewReader(*g.input)) // a terminal gives a line at a time
	}
	e := &session.Env{
		IOStreams:  genericiooptions.IOStreams{In: in, Out: &g.out, ErrOut: &g.err},
		Kube:       kube,
		Clock:      g.theClock(),
		Getenv:     func(name string) string { return g.env[name] },
		IsTerminal: func(stream any) bool { return g.terminal || g.input != nil && stream == any(in) },
		Random:     func() uint64 { return cmp.Or(g.seed, 42) },
		Holder:     "me@here pid 1",
		RunID:      "run1",
		Client:     func() (client.Client, error) { return g.client(), nil },
		Connect: func(context.Context, types.NamespacedName) (session.Session, error) {
			if g.connect != nil {
				return g.connect()
			}
			return simulated{g.cluster, g}, nil
		},
		Tool: g.tool,
		Logs: g.logs,
		Follow: func(_ types.NamespacedName, facets plan.Facet, changed func(plan.Facet), problem func(plan.Facet, error)) (session.Follower, error) {
			g.follower = &follower{facets: facets, changed: changed, problem: problem}
			return g.follower, nil
		},
	}
	if g.columns > 0 {
		e.Columns = func(any) int { return g.columns }
	}
	e.ConnectBackup = func(key types.NamespacedName) (session.Session, error) { return g.record(e, key) }
	e.ConnectRestore = e.ConnectBackup
	return e
}

func (g *given) theClock() clock.WithTicker { //nolint:ireturn // the clock's own shape
	if g.now != nil {
		return g.now
	}
	return g.clock
}

// follower reports the changes that a test sends.
type follower struct {
	facets  plan.Facet
	changed func(plan.Facet)
	problem func(plan.Facet, error)
	follows int
	stopped bool
}

func (f *follower) Follow(context.Context, *session.Cluster) { f.follows++ }

func (f *follower) Stop() { f.stopped = true }

// kubeconfig names an API server that only the command version reads.
func (g *given) kubeconfig() string {
	g.t.Helper()
	path := filepath.Join(g.t.TempDir(), "kubeconfig")
	text := `apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, namespace: fdb}}]
clusters: [{name: test, cluster: {server: "` + cmp.Or(g.server, "http://127.0.0.1:1") + `"}}]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	return path
}

// schemeWithRoles is built once: it takes longer than most commands, and nothing changes it later.
var schemeWithRoles = sync.OnceValues(func() (*runtime.Scheme, error) {
	scheme, err := session.NewScheme()
	return scheme, errors.Join(err, rbacv1.AddToScheme(scheme))
})

// converters are those that a fake client has by default. It would build all of Kubernetes' types for itself, which
// takes longer than most commands.
var converters = sync.OnceValues(func() ([]managedfields.TypeConverter, error) {
	kubernetes := runtime.NewScheme()
	err := clientgoscheme.AddToScheme(kubernetes)
	return []managedfields.TypeConverter{applyconfigurations.NewTypeConverter(kubernetes), managedfields.NewDeducedTypeConverter()}, err
})

// fakeAPI begins a fake client with all kinds.
func fakeAPI(t *testing.T) *fake.ClientBuilder {
	t.Helper()
	scheme, err := schemeWithRoles()
	shared, convertersErr := converters()
	if err := errors.Join(err, convertersErr); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithTypeConverters(shared...).WithRESTMapper(session.NewMapper())
}

func (g *given) client() client.Client {
	g.t.Helper()
	objects := append([]client.Object{}, g.objects...)
	if g.cluster.Resource != nil {
		objects = append(objects, g.cluster.Resource.DeepCopy())
	}
	for _, name := range g.cluster.Nodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"rack": name}}}
		node.Spec.Unschedulable, node.Spec.Taints = g.cluster.Cordoned[name], g.cluster.Taints[name]
		if g.nodes != nil {
			g.nodes(node)
		}
		objects = append(objects, node)
	}
	return fakeAPI(g.t).WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{Create: g.review, List: g.list}).
		WithIndex(&corev1.Event{}, session.InvolvedName, func(o client.Object) []string { return []string{o.(*corev1.Event).InvolvedObject.Name} }).Build()
}

// list lists objects, except those that are forbidden.
func (g *given) list(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
	switch typed(l).(type) {
	case *corev1.NodeList:
		if g.nodesHidden != nil {
			return g.nodesHidden
		}
	case *corev1.EventList:
		if g.eventsHidden != nil {
			return g.eventsHidden
		}
	case *v1beta2.FoundationDBBackupList, *v1beta2.FoundationDBRestoreList:
		if g.backupsHidden != nil {
			return g.backupsHidden
		}
		if g.resources != nil {
			return g.resources.List(ctx, l, opts...)
		}
	}
	return c.List(ctx, l, opts...)
}

// typed returns a list of the type that an untyped one stands for.
func typed(l client.ObjectList) client.ObjectList {
	if _, untyped := l.(*unstructured.UnstructuredList); !untyped {
		return l
	}
	switch l.GetObjectKind().GroupVersionKind().Kind {
	case "NodeList":
		return &corev1.NodeList{}
	case "EventList":
		return &corev1.EventList{}
	default:
		return l
	}
}

// review answers what is allowed, as the API server does.
func (g *given) review(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
	if event, ok := o.(*corev1.Event); ok {
		return g.event(event)
	}
	if rules, ok := o.(*authorizationv1.SelfSubjectRulesReview); ok {
		rules.Status.ResourceRules = []authorizationv1.ResourceRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}
		rules.Status.Incomplete = len(g.denied) > 0 // no rule takes a permission away
		return nil
	}
	r, ok := o.(*authorizationv1.SelfSubjectAccessReview)
	if !ok {
		return c.Create(ctx, o, opts...)
	}
	a := r.Spec.ResourceAttributes
	requested := session.Permission{Verb: a.Verb, Group: a.Group, Resource: a.Resource, Subresource: a.Subresource}.String()
	r.Status.Allowed = true
	for _, denied := range g.denied {
		r.Status.Allowed = r.Status.Allowed && denied != requested
	}
	return nil
}

// event keeps an Event, unless we may not write any.
func (g *given) event(e *corev1.Event) error {
	if slices.Contains(g.denied, "create events") {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, e.Name, errors.New("RBAC"))
	}
	g.events = append(g.events, e)
	return nil
}

type simulated struct {
	*sim.Cluster
	g *given
}

// UseFirst does nothing: the simulated cluster is read without requests.
func (simulated) UseFirst(live.Given) {}

// Held is always true: nothing takes the Lease of a simulated cluster away.
func (simulated) Held(context.Context) error { return nil }

func (s simulated) End(ctx context.Context) error {
	return errors.Join(s.Cluster.End(ctx), s.g.endErr)
}

func (s simulated) Gates(_ context.Context, o live.GateOptions) ([]plan.Check, error) {
	s.g.coexist = o.Coexist
	checks := append([]plan.Check{}, s.g.gates...)
	for i := range checks {
		checks[i].OK = checks[i].OK || o.Coexist
	}
	return checks, nil
}

// clusterClock is the clock of the simulated cluster: waiting makes its time pass at once. Timers
// that last longer than any sleep are limits; they fire when the time has come.
type clusterClock struct {
	clock.RealClock
	cluster *sim.Cluster
	limits  []*limit
	// onTimer is called with every timer before time passes, and may prevent that.
	onTimer func(d time.Duration) (still bool)
}

type limit struct {
	at time.Time
	c  chan time.Time
}

func (l *limit) C() <-chan time.Time { return l.c }

func (l *limit) Stop() bool { return true }

func (l *limit) Reset(time.Duration) bool { return true }

func (c *clusterClock) Now() time.Time { return c.cluster.Now() }

func (c *clusterClock) Since(t time.Time) time.Duration { return c.cluster.Now().Sub(t) }

// sleepsMost is more than any single sleep of a command.
const sleepsMost = 30 * time.Second

func (c *clusterClock) NewTimer(d time.Duration) clock.Timer {
	l := &limit{at: c.Now().Add(d), c: make(chan time.Time, 1)}
	c.limits = append(c.limits, l)
	still := c.onTimer != nil && c.onTimer(d)
	if d <= sleepsMost && !still {
		c.cluster.Tick(d + time.Second - 1) // it moves by whole seconds
	}
	for _, l := range c.limits {
		if !c.Now().Before(l.at) && len(l.c) == 0 {
			l.c <- c.Now()
		}
	}
	return l
}

// NewTicker never ticks: nothing takes long in the simulation.
func (c *clusterClock) NewTicker(time.Duration) clock.Ticker { //nolint:ireturn // the clock's own shape
	return failingTicker{}
}

type failingTicker struct{}

func (failingTicker) C() <-chan time.Time { return nil }

func (failingTicker) Stop() {}
