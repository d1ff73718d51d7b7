package session

import (
	"context"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/direct"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/servertime"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Env is the environment of every subcommand: everything external except its arguments.
type Env struct {
	genericiooptions.IOStreams
	// Kube holds the flags that select the API server.
	Kube *genericclioptions.ConfigFlags
	// Clock returns the time and waits.
	Clock clock.WithTicker
	// ServerTime is the Clock where that shows the time of the API server; nil where another clock is
	// used, as for a dump and in tests.
	ServerTime *servertime.Clock
	// Getenv reads an environment variable.
	Getenv func(string) string
	// IsTerminal reports whether a stream is an interactive terminal.
	IsTerminal func(stream any) bool
	// Columns returns the width of the terminal that a stream is, in cells; 0 for any other. Nil
	// means that no width is known. Replaced in tests.
	Columns func(stream any) int
	// Footer shows at the bottom of the terminal what is going on; nil where stdout is no terminal.
	Footer *layout.Footer
	// Random makes the random choices of a pass.
	Random func() uint64
	// Holder is who runs the command: user, host and process.
	Holder string
	// RunID identifies this run of the program, or of one of its commands, in all its output.
	RunID string
	// Client opens the API server. Replaced in tests.
	Client func() (client.Client, error)
	// Connect opens a cluster. It is called once a command's input is validated. Replaced in
	// tests.
	Connect func(ctx context.Context, key types.NamespacedName) (Session, error)
	// ConnectBackup and ConnectRestore open a backup and a restore. Replaced in tests.
	ConnectBackup, ConnectRestore func(key types.NamespacedName) (Session, error)
	// Follow opens a watch on a cluster's objects: changed is called with what changed, problem
	// with why something cannot be watched. Replaced in tests.
	Follow func(key types.NamespacedName, facets plan.Facet, changed func(plan.Facet), problem func(plan.Facet, error)) (Follower, error)

	// Elsewhere opens the API server of another kubeconfig context. Replaced in tests.
	Elsewhere func(p Place) *Env

	// Tool opens a runner of programs in a container of a pod. Replaced in tests.
	Tool func(pod *corev1.Pod, container string) (admin.Transport, error)
	// Logs opens the logs of a pod. Replaced in tests.
	Logs func(ctx context.Context, namespace, pod string, o *corev1.PodLogOptions) (io.ReadCloser, error)

	// Found is called with the cluster that the command found by its arguments, before anything else is done with it; its error
	// ends the command. Nil for none.
	Found func(ctx context.Context, cluster *Cluster) error
	// Observer receives the events of passes and answers their prompts instead of the terminal;
	// nil for the terminal.
	Observer *RunObserver

	Global GlobalFlags
	// Site is the place among several that the environment is of; empty for the only one.
	Site string
	// Run is what changes while the command runs.
	Run Run

	namespace string // of Connection instead of that of the flags; empty for that

	within  *Env               // the command that runs this one; nil for none
	byFlags bool               // what is opened is what Kube and Global select
	dumped  *Dumped            // what is read instead of the API server and pods; nil for these
	direct  []*direct.Database // native transports that were opened; guarded by mu
	places  []*Env             // environments of other contexts that were opened; guarded by mu

	mu         sync.Mutex // guards spoken, and keeps lines whole
	lastOutput time.Time  // when progress was last printed
	reports    int        // how often in a row that was a wait that goes on
}

// Run is what a run of a command has read of its command line, found and done so far. All else of its environment stays as it
// was before the flags were read.
type Run struct {
	Started bool                 // the command line is valid
	About   types.NamespacedName // the cluster of the command, once known
	// Reason is why the run changes something, as its Leases show it; empty without --reason.
	Reason string
	// Overrides are the overridden gates, with the reasons.
	Overrides map[plan.Gate]string
	// Planned is the approved plan that the command applies; nil without --plan.
	Planned *planned.ApprovedPlan
	// FieldManager is the field manager of changes; empty means the default.
	FieldManager string
	// Acted is the number of actions that the passes of the command carried out.
	Acted int

	first *Cluster // the cluster that the command found by its arguments; nil before
}

// LeaseHolder returns the holder of the Leases that a run takes: who runs it, and why.
func LeaseHolder(e *Env) string {
	if e.Run.Reason == "" {
		return e.Holder
	}
	return e.Holder + " (" + e.Run.Reason + ")"
}

// Session is one open cluster.
type Session interface {
	reconcile.Observer
	reconcile.Actor
	Reader
	// ReadNodes includes nodes in observations regardless of the spec's rules.
	ReadNodes()
	// UseFirst makes the first observation use a resource that was read just before.
	UseFirst(g live.Given)
	// Held returns an error once the Lease was lost: then nothing may be changed.
	Held(ctx context.Context) error
	// Gates evaluates what must hold before the first change.
	Gates(ctx context.Context, o live.GateOptions) ([]plan.Check, error)
}

// DatabasePoller is a Session that reads the database between passes at little cost.
type DatabasePoller interface {
	// KeepOpen keeps an fdbcli open for status documents until the returned function is called.
	KeepOpen() (end func())
	// PollDatabase reads another status document through it. It is not ok where that is not possible.
	PollDatabase(ctx context.Context) (status *fdb.Status, ok bool)
}

// Reader reads what users want to know of a cluster and no pass needs. The resource and the
// pods must have been observed before. It changes nothing.
type Reader interface {
	// ReadExclusions reads which exclusions are in force and in progress.
	ReadExclusions(ctx context.Context) (plan.CoordinationFacts, error)
	// ReadShared reads all state shared by control-plane instances, whether or not the spec
	// enables locks.
	ReadShared(ctx context.Context) (plan.CoordinationFacts, error)
	// ReadClusterFiles reads the connection strings in the database and in all pods.
	ReadClusterFiles(ctx context.Context) (plan.ClusterFiles, error)
	// ReadNames measures how DNS names resolve in one of the cluster's pods.
	ReadNames(ctx context.Context, names []string) (fdb.NameLookups, error)
	// ReadServed connects to processes from one of the cluster's pods, and reads the certificates that they serve.
	ReadServed(ctx context.Context, addresses []fdb.Address) ([]fdb.ServedCertificate, error)
}

// Follower reports changes of a cluster's objects.
type Follower interface {
	// Since states the objects of a facet as they were read before: what has changed when the watch begins is reported.
	Since(facet plan.Facet, read []client.Object)
	// Follow watches the objects that belong to the cluster.
	Follow(ctx context.Context, c *v1beta2.FoundationDBCluster)
	// Stop ends the watch, and returns once no more changes are reported.
	Stop()
}

// Metadata returns the header of documents about a cluster; the zero key is for those about
// several.
func (e *Env) Metadata(key types.NamespacedName) inspect.Metadata {
	return inspect.Metadata{
		Cluster: key.Name, Namespace: key.Namespace, Context: e.Connection().ContextName(), Site: e.Site,
		Tool: "kubectl-fdb " + Version, RunID: e.RunID,
	}
}

// PlanDigest returns the digest of the approved plan; empty without one.
func (e *Env) PlanDigest() string {
	if e.Run.Planned == nil {
		return ""
	}
	return e.Run.Planned.Digest
}

// Commands returns command lines as hints show them.
func (e *Env) Commands() inspect.Commands {
	return inspect.Commands{FDB: e.Command, Kubectl: e.Kubectl}
}

// Within returns an environment beside a command, like Beside, for another namespace: what it prints of
// command lines is about that.
func (e *Env) Within(namespace string, output io.Writer) *Env {
	other := e.Beside(output)
	other.namespace = namespace
	return other
}

// ReadProposed has the commands of an environment read resources as they would be after changes that nothing has stored
// yet.
func ReadProposed(e *Env, changes []*proposal.Change) {
	open := e.Client
	e.Client = func() (client.Client, error) {
		c, err := open()
		if err != nil {
			return nil, err
		}
		return proposal.Over(c, changes), nil
	}
}

// Use has the commands of an environment act in a namespace, instead of that of the flags.
func Use(e *Env, namespace string) { e.namespace = namespace }

// IsDumped reports whether commands read a dump instead of an API server.
func IsDumped(e *Env) bool { return e.dumped != nil }

// Beside returns an environment for what runs beside a command that goes on, such as the TUI or the
// eviction webhook: it has no terminal, and its output and errors go to output.
func (e *Env) Beside(output io.Writer) *Env {
	other := &Env{
		Kube: e.Kube, Clock: e.Clock, ServerTime: e.ServerTime, Getenv: e.Getenv, IsTerminal: func(any) bool { return false }, Random: e.Random, Holder: e.Holder,
		RunID: e.RunID, Client: e.Client, Connect: e.Connect, ConnectBackup: e.ConnectBackup, ConnectRestore: e.ConnectRestore, Follow: e.Follow, Elsewhere: e.Elsewhere, Tool: e.Tool, Logs: e.Logs, dumped: e.dumped, Site: e.Site,
		Global: GlobalFlags{Color: ColorNever, Verbose: e.Global.Verbose, Templates: TemplateRestrictions(e), typed: e.Global.typed}, Run: Run{Started: true},
	}
	other.In, other.Out, other.ErrOut, other.namespace = e.In, output, output, e.namespace
	return other
}

// Connection opens API servers, clusters and databases as the flags select them.
type Connection struct{ *Env }

// Prompt asks the user, or the observer of a run, for approval.
type Prompt struct{ *Env }

// Lookup reads what commands show beside the snapshot of a pass.
type Lookup struct{ *Env }

// Waiting waits, and shows for what.
type Waiting struct{ *Env }

// Connection returns what opens API servers, clusters and databases.
func (e *Env) Connection() Connection { return Connection{e} }

// Prompt returns what asks for approval.
func (e *Env) Prompt() Prompt { return Prompt{e} }

// Lookup returns what reads beside the snapshot of a pass.
func (e *Env) Lookup() Lookup { return Lookup{e} }

// Waiting returns what waits.
func (e *Env) Waiting() Waiting { return Waiting{e} }
