package commandstest

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
	"sync/atomic"
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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// Given is everything around one run of the program, in memory.
type Given struct {
	T       *testing.T
	Cluster *sim.Cluster
	// Evaluated are answered to every pass; nil for none.
	Evaluated []plan.Check
	// Denied are the RBAC powers that we do not have.
	Denied []string
	// NodesHidden, EventsHidden and BackupsHidden are what listing them meets; nil for nothing.
	NodesHidden, EventsHidden, BackupsHidden error
	// RulesHidden is the same for ResourceQuotas and LimitRanges.
	RulesHidden error
	// resources has the backups and restores; nil where objects have them.
	resources client.Client
	// Nodes changes each node before it is read; nil for nothing.
	Nodes func(*corev1.Node)
	// Evictor is the user of the requests to the eviction webhook.
	Evictor string
	// Objects are in the API server besides the simulated resources.
	Objects []client.Object
	// Events are those that were written on the cluster.
	Events []*corev1.Event
	// Input is typed on the terminal; without one there is no terminal.
	Input *string
	// Terminal is true if all streams are terminals.
	Terminal bool
	Env      map[string]string
	// Follower stands for the watch on changes.
	Follower *follower
	// Tool is what programs meet in pods; ran and read are what it met.
	Tool func(pod *corev1.Pod, container string) (admin.Transport, error)
	Ran  []string
	Read string
	// Logs opens the logs of pods.
	Logs func(ctx context.Context, namespace, pod string, o *corev1.PodLogOptions) (io.ReadCloser, error)
	// Proposes is true where sessions read resources through the client, as the real ones do.
	Proposes bool
	// OnStore is called before a changed resource is stored, or would be; its error is the answer. Nil for none.
	OnStore func(name string, dryRun bool) error
	created int // resources, those of dry runs too
	// Connect replaces the session; nil is the simulated cluster.
	Connect func() (session.Session, error)
	// Record opens a backup or a restore.
	Record func(e *session.Env, key types.NamespacedName) (session.Session, error)

	// Sites are other Kubernetes clusters by their kubeconfig context.
	Sites map[string]*Given
	// Leases is how many Leases of the cluster runs hold. OnLease is called after each one was taken; nil for nothing.
	Leases  int
	OnLease func()
	// Down is what every request to the API server meets; nil for an answer.
	Down error

	// Server answers what no client asks of the API server; empty is one that cannot be reached.
	Server string

	// Columns is the width of a terminal; 0 is unknown.
	Columns int

	Clock *ClusterClock
	// Now is another clock, for concurrent tests; nil is the simulated one.
	Now      clock.WithTicker
	seed     uint64 // of the next runs; 42 when it is 0
	EndErr   error  // the release the Lease and the lock
	coexist  bool   // what the gates were last asked with
	Out, Err bytes.Buffer
}

// NewCluster is a cluster of which only the custom resource exists.
func NewCluster(t *testing.T) *sim.Cluster {
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

// NewGiven is a cluster of which only the resource exists, and a user in front of it.
func NewGiven(t *testing.T) *Given {
	t.Helper()
	w := NewCluster(t)
	return &Given{T: t, Cluster: w, Env: map[string]string{"XDG_STATE_HOME": t.TempDir()}, Clock: &ClusterClock{Cluster: w}}
}

// Up is a reconciled cluster.
func Up(t *testing.T) *Given {
	t.Helper()
	g := NewGiven(t)
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	return g
}

// Run runs one command line and returns the exit code; out and err hold what it printed.
func (g *Given) Run(args ...string) int {
	g.T.Helper()
	return g.RunIn(g.T.Context(), args...)
}

// RunIn runs one command line in a context.
func (g *Given) RunIn(ctx context.Context, args ...string) int {
	g.T.Helper()
	g.Out.Reset()
	g.Err.Reset()
	code := commands.Run(ctx, g.Environment(), args)
	if commands.JSONRequested(args) { // whatever a test is about, JSON is what schemas say
		Valid(g.T, strings.Join(args, " "), g.Out.Bytes())
		for line := range bytes.Lines(g.Err.Bytes()) {
			if bytes.HasPrefix(line, []byte("{")) {
				Valid(g.T, strings.Join(args, " ")+", stderr", line)
			}
		}
	}
	return code
}

// Environment returns the environment of a command.
func (g *Given) Environment() *session.Env {
	g.T.Helper()
	kube := genericclioptions.NewConfigFlags(false)
	*kube.KubeConfig = g.Kubeconfig()
	var in io.Reader = strings.NewReader("")
	if g.Input != nil {
		in = iotest.OneByteReader(strings.NewReader(*g.Input)) // a terminal gives a line at a time
	}
	e := &session.Env{
		IOStreams:  genericiooptions.IOStreams{In: in, Out: &g.Out, ErrOut: &g.Err},
		Kube:       kube,
		Clock:      g.theClock(),
		Getenv:     func(name string) string { return g.Env[name] },
		IsTerminal: func(stream any) bool { return g.Terminal || g.Input != nil && stream == any(in) },
		Random:     func() uint64 { return cmp.Or(g.seed, 42) },
		Holder:     "me@here pid 1",
		RunID:      "run1",
		Client:     g.openClient,
		Elsewhere:  g.elsewhere,
		Tool:       g.Tool,
		Logs:       g.Logs,
		Follow: func(_ types.NamespacedName, facets plan.Facet, changed func(plan.Facet), problem func(plan.Facet, error)) (session.Follower, error) {
			g.Follower = &follower{Facets: facets, Changed: changed, Problem: problem}
			return g.Follower, nil
		},
	}
	e.Connect = func(context.Context, types.NamespacedName) (session.Session, error) {
		switch {
		case g.Connect != nil:
			return g.Connect()
		case g.Proposes:
			return throughClient{Simulated{g.Cluster, g}, e}, nil
		default:
			return Simulated{g.Cluster, g}, nil
		}
	}
	if g.Columns > 0 {
		e.Columns = func(any) int { return g.Columns }
	}
	e.ConnectBackup = func(key types.NamespacedName) (session.Session, error) { return g.Record(e, key) }
	e.ConnectRestore = e.ConnectBackup
	return e
}

func (g *Given) theClock() clock.WithTicker { //nolint:ireturn // the clock's own shape
	if g.Now != nil {
		return g.Now
	}
	return g.Clock
}

// follower reports the changes that a test sends.
type follower struct {
	Facets  plan.Facet
	Changed func(plan.Facet)
	Problem func(plan.Facet, error)
	Follows int
	Stopped bool
	Known   map[plan.Facet][]client.Object // what was read before
}

// Since implements session.Follower.
func (f *follower) Since(facet plan.Facet, read []client.Object) {
	if f.Known == nil {
		f.Known = map[plan.Facet][]client.Object{}
	}
	f.Known[facet] = read
}

func (f *follower) Follow(context.Context, *session.Cluster) { f.Follows++ }

func (f *follower) Stop() { f.Stopped = true }

// Kubeconfig names an API server that only the command version reads.
func (g *Given) Kubeconfig() string {
	g.T.Helper()
	path := filepath.Join(g.T.TempDir(), "kubeconfig")
	text := `apiVersion: v1
kind: Config
current-context: test
contexts: [` + g.contexts() + `]
clusters: [{name: test, cluster: {server: "` + cmp.Or(g.Server, "http://127.0.0.1:1") + `"}}]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.T.Fatal(err)
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

// Client returns a client of the API server.
func (g *Given) Client() client.Client {
	g.T.Helper()
	objects := append([]client.Object{}, g.Objects...)
	if g.Cluster.Resource != nil {
		objects = append(objects, g.Cluster.Resource.DeepCopy())
	}
	for _, name := range g.Cluster.Nodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"rack": name}}}
		node.Spec.Unschedulable, node.Spec.Taints = g.Cluster.Cordoned[name], g.Cluster.Taints[name]
		if g.Nodes != nil {
			g.Nodes(node)
		}
		objects = append(objects, node)
	}
	api := fakeAPI(g.T)
	if g.Proposes {
		api = api.WithReturnManagedFields()
	}
	return api.WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{Create: g.review, Get: g.get, List: g.list, Patch: g.patch}).
		WithIndex(&corev1.Event{}, session.InvolvedName, func(o client.Object) []string { return []string{o.(*corev1.Event).InvolvedObject.Name} }).Build()
}

// list lists objects, except those that are forbidden.
func (g *Given) list(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
	switch typed(l).(type) {
	case *corev1.NodeList:
		if g.NodesHidden != nil {
			return g.NodesHidden
		}
	case *corev1.ResourceQuotaList, *corev1.LimitRangeList:
		if g.RulesHidden != nil {
			return g.RulesHidden
		}
	case *corev1.EventList:
		if g.EventsHidden != nil {
			return g.EventsHidden
		}
	case *v1beta2.FoundationDBBackupList, *v1beta2.FoundationDBRestoreList:
		if g.BackupsHidden != nil {
			return g.BackupsHidden
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
func (g *Given) review(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
	if event, ok := o.(*corev1.Event); ok {
		return g.event(event)
	}
	if rules, ok := o.(*authorizationv1.SelfSubjectRulesReview); ok {
		rules.Status.ResourceRules = []authorizationv1.ResourceRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}
		rules.Status.Incomplete = len(g.Denied) > 0 // no rule takes a permission away
		return nil
	}
	r, ok := o.(*authorizationv1.SelfSubjectAccessReview)
	if g.isOfVault(o) {
		return g.create(ctx, o, opts...)
	}
	if !ok {
		return c.Create(ctx, o, opts...)
	}
	a := r.Spec.ResourceAttributes
	requested := session.Permission{Verb: a.Verb, Group: a.Group, Resource: a.Resource, Subresource: a.Subresource}.String()
	r.Status.Allowed = true
	for _, denied := range g.Denied {
		r.Status.Allowed = r.Status.Allowed && denied != requested
	}
	return nil
}

// event keeps an Event, unless we may not write any.
func (g *Given) event(e *corev1.Event) error {
	if slices.Contains(g.Denied, "create events") {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, e.Name, errors.New("RBAC"))
	}
	g.Events = append(g.Events, e)
	return nil
}

// Simulated is a session with the simulated cluster.
type Simulated struct {
	*sim.Cluster
	G *Given
}

// Observe implements reconcile.Observer.
func (s Simulated) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if s.G.Down != nil {
		return &reconcile.UnreachableError{Err: s.G.Down}
	}
	return s.Cluster.Observe(ctx, into, facets)
}

// Begin implements reconcile.Actor.
func (s Simulated) Begin(ctx context.Context) error {
	if s.G.Down != nil {
		return s.G.Down
	}
	if err := s.Cluster.Begin(ctx); err != nil {
		return err
	}
	if s.G.Leases++; s.G.OnLease != nil {
		s.G.OnLease()
	}
	return nil
}

// Act implements reconcile.Actor.
func (s Simulated) Act(ctx context.Context, a plan.Action) error {
	if s.G.Down != nil {
		return s.G.Down
	}
	return s.Cluster.Act(ctx, a)
}

// UseFirst does nothing: the simulated cluster is read without requests.
func (Simulated) UseFirst(live.Given) {}

// Held implements session.Session: nothing takes the Lease of a simulated cluster away as long as its API server answers.
func (s Simulated) Held(context.Context) error { return s.G.Down }

// End implements reconcile.Actor.
func (s Simulated) End(ctx context.Context) error {
	s.G.Leases = max(0, s.G.Leases-1)
	return errors.Join(s.Cluster.End(ctx), s.G.EndErr)
}

// Gates implements session.Session.
func (s Simulated) Gates(_ context.Context, o live.GateOptions) ([]plan.Check, error) {
	s.G.coexist = o.Coexist
	checks := append([]plan.Check{}, s.G.Evaluated...)
	for i := range checks {
		checks[i].OK = checks[i].OK || o.Coexist
	}
	return checks, nil
}

// ClusterClock is the clock of the simulated cluster: waiting makes its time pass at once. Timers
// that last longer than any sleep are limits; they fire when the time has come.
type ClusterClock struct {
	clock.RealClock
	Cluster *sim.Cluster
	mu      sync.Mutex
	limits  []*limit // that have neither fired nor been stopped
	// OnTimer is called with every timer before time passes, and may prevent that.
	OnTimer func(d time.Duration) (still bool)
}

type limit struct {
	at      time.Time
	c       chan time.Time
	stopped atomic.Bool
}

func (l *limit) C() <-chan time.Time { return l.c }

func (l *limit) Stop() bool { return !l.stopped.Swap(true) }

func (l *limit) Reset(time.Duration) bool { return true }

// Now implements clock.Clock.
func (c *ClusterClock) Now() time.Time { return c.Cluster.Now() }

// Since implements clock.Clock.
func (c *ClusterClock) Since(t time.Time) time.Duration { return c.Cluster.Now().Sub(t) }

// SleepsMost is more than any single sleep of a command.
const SleepsMost = 30 * time.Second

// NewTimer implements clock.Clock.
func (c *ClusterClock) NewTimer(d time.Duration) clock.Timer {
	l := &limit{at: c.Now().Add(d), c: make(chan time.Time, 1)}
	c.mu.Lock()
	c.limits = append(c.limits, l)
	c.mu.Unlock()
	still := c.OnTimer != nil && c.OnTimer(d)
	if d <= SleepsMost && !still {
		c.Cluster.Tick(d + time.Second - 1) // it moves by whole seconds
	}
	c.fire(c.Now())
	return l
}

// fire has the timers whose time has come fire, each once.
func (c *ClusterClock) fire(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limits = slices.DeleteFunc(c.limits, func(l *limit) bool {
		due := !now.Before(l.at)
		if due {
			l.c <- now
		}
		return due || l.stopped.Load()
	})
}

// Following returns a context that an interrupt ends once a command has rested so many times, or for a limit of real time where
// it follows what is not a clock: one that goes on and on has shown enough then.
func (g *Given) Following(ctx context.Context, rests int64, limit time.Duration) (of context.Context, stop func()) {
	interrupt := &exit.InterruptedError{Signal: os.Interrupt}
	ctx, end := context.WithTimeoutCause(ctx, limit, interrupt)
	of, cancel := context.WithCancelCause(ctx)
	was, rested := g.Clock.OnTimer, atomic.Int64{}
	g.Clock.OnTimer = func(d time.Duration) bool {
		if rested.Add(1) == rests {
			cancel(interrupt)
		}
		return was != nil && was(d)
	}
	return of, func() {
		g.Clock.OnTimer = was
		cancel(nil)
		end()
	}
}

// NewTicker never ticks: nothing takes long in the simulation.
func (c *ClusterClock) NewTicker(time.Duration) clock.Ticker { //nolint:ireturn // the clock's own shape
	return failingTicker{}
}

type failingTicker struct{}

func (failingTicker) C() <-chan time.Time { return nil }

func (failingTicker) Stop() {}

// Book writes a runbook with these steps to a file. Its variable is the cluster.
func Book(t *testing.T, steps string) string {
	t.Helper()
	return BookFile(t, "apiVersion: runbook.kubectl-fdb/v1\nkind: Runbook\nmetadata: {name: book}\nvars:\n- {name: cluster, default: sample}\nsteps:\n"+steps)
}

// BookFile writes a runbook.
func BookFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "book.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
