package commands

import (
	"context"
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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// Env is the environment of every subcommand: everything external except its arguments.
type Env struct {
	genericiooptions.IOStreams
	// Kube holds the flags that select the API server.
	Kube *genericclioptions.ConfigFlags
	// Clock returns the time and waits.
	Clock clock.WithTicker
	// Getenv reads an environment variable.
	Getenv func(string) string
	// IsTerminal reports whether a stream is an interactive terminal.
	IsTerminal func(stream any) bool
	// Random makes the random choices of a pass.
	Random func() uint64
	// Holder is our identity in a Lease: user, host and process.
	Holder string
	// Overrides are the overridden gates, with the reasons.
	Overrides map[plan.Gate]string
	// RunID identifies this run of the program in all its output.
	RunID string
	// Client opens the API server. Replaced in tests.
	Client func() (client.Client, error)
	// Connect opens a cluster. It is called once a command's input is validated. Replaced in
	// tests.
	Connect func(ctx context.Context, key types.NamespacedName) (Session, error)
	// ConnectBackup and ConnectRestore open a backup and a restore. Replaced in tests.
	ConnectBackup, ConnectRestore func(key types.NamespacedName) (Session, error)
	// Follow opens a watch on a cluster's objects: changed is called with what changed, trouble
	// with why something cannot be watched. Replaced in tests.
	Follow func(key types.NamespacedName, facets plan.Facet, changed func(plan.Facet), trouble func(plan.Facet, error)) (Follower, error)

	// Tool opens a runner of programs in a container of a pod. Replaced in tests.
	Tool func(pod *corev1.Pod, container string) (admin.Transport, error)

	// planned is the approved plan that the command carries out; nil without --plan.
	planned *ui.ApprovedPlan
	// fieldManager is the name under which objects are changed; empty is the default.
	fieldManager string
	// acted is how many actions the passes of the command have carried out.
	acted int
	// hearing hears what passes say, and answers what they ask, in the place of the
	// terminal; nil for the terminal.
	hearing *hearing

	global  globalFlags
	about   types.NamespacedName // the cluster that the command is about, once known
	started bool                 // the command line made sense

	mu     sync.Mutex // for spoken, and so that lines stay whole
	spoken time.Time  // when talk was last heard
}

// Session is one open cluster.
type Session interface {
	reconcile.Observer
	reconcile.Actor
	Reader
	// ReadNodes has nodes observed whatever the rules of the spec are about.
	ReadNodes()
	// Gates asks what has to hold before the first change.
	Gates(ctx context.Context, o live.GateOptions) ([]plan.Check, error)
}

// Reader reads what no pass needs to know of a cluster, and people do. The record and
// the pods have to have been observed before. It changes nothing.
type Reader interface {
	// ReadExclusions reads which exclusions are in force and in progress.
	ReadExclusions(ctx context.Context) (plan.CoordinationFacts, error)
	// ReadShared reads all that instances share, whether or not the spec asks for it.
	ReadShared(ctx context.Context) (plan.CoordinationFacts, error)
	// ReadClusterFiles reads the connection strings in the database and in all pods.
	ReadClusterFiles(ctx context.Context) (plan.ClusterFiles, error)
	// ReadNames measures how names are resolved in one of the cluster's pods.
	ReadNames(ctx context.Context, names []string) (fdb.NameLookups, error)
}

// Follower tells when something about a cluster changes.
type Follower interface {
	// Follow follows what belongs to the cluster as its record is now.
	Follow(ctx context.Context, c *v1beta2.FoundationDBCluster)
	// Stop ends that, and returns once nothing is told any more.
	Stop()
}

// metadata heads the documents about a cluster; the zero key is for those about several.
func (e *Env) metadata(key types.NamespacedName) ui.Metadata {
	return ui.Metadata{
		Cluster: key.Name, Namespace: key.Namespace, Context: e.contextName(),
		Tool: "kubectl-fdb " + version, RunID: e.RunID,
	}
}
