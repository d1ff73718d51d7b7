// Package live is the observer and the actor of a pass: it observes a cluster through the
// Kubernetes API and through a FoundationDB client that runs in one of the cluster's pods, and
// carries out actions there. All input and output of a pass is here or below. It decides
// nothing and renders nothing.
package live

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/direct"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// FieldManager is the name under which the client of a Cluster changes objects. Default
// kubectl-fdb; --field-manager changes it.
const FieldManager = "kubectl-fdb"

// Options are the access and identity of a run. Client, Key, Holder and Clock are required.
type Options struct {
	// Client reads and writes objects without a cache: a pass reads its own writes.
	Client client.Client
	// Config reaches the same API server, for exec and port-forward.
	Config *rest.Config
	// Key names the custom resource.
	Key types.NamespacedName
	// Holder identifies this run in a Lease: user, host and process.
	Holder string
	// Plan is the digest of the approved plan of this run; empty without one. The Lease stores
	// it, so that the same run again, after it was killed, continues the plan.
	Plan string
	// Lease is the name of the Lease. Default: that of the cluster, see LeaseName.
	Lease string
	// Report is called with what the run waits for, as text for users. Nil means no reports.
	Report func(words string)
	// Clock is the source of time.
	Clock clock.WithTicker
	// ClockDifference returns how the clock of this machine compares with that of the API server, whose
	// time Clock shows. Nil compares nothing.
	ClockDifference func() plan.ClockFacts
	// Command is a whole command line that runs kubectl against the same API server, for
	// commands in hints. Nil names neither context nor namespace.
	Command func(words ...string) string
	// Nonce returns a fresh random text for every attempt to take the database's lock.
	Nonce func() string
	// Transport runs a program in a pod; replaced in tests. Nil uses pods/exec.
	Transport func(pod *corev1.Pod) admin.Transport
	// Sidecars returns what queries the sidecars of split pods, given what queries them through the
	// API server. Nil is the latter.
	Sidecars func(SidecarQuery) SidecarQuery
	// Direct reaches the database without its pods. Nil uses fdbcli in pods alone.
	Direct *direct.Database
	// Overrides are the gates that a user overrides, each with the reason given. Only
	// G-CLOCK, G-DELETION, G-OPERATOR and G-LOCK-OWNER are checked here; stages check the others.
	Overrides map[plan.Gate]string
	// StatusTimeout bounds how long to wait for the status of the database. Default
	// DefaultStatusTimeout.
	StatusTimeout time.Duration
}

func (o *Options) kubectl(words ...string) string {
	if o.Command == nil {
		return "kubectl " + strings.Join(words, " ")
	}
	return o.Command(words...)
}

// clockFacts returns how the clock of this machine compares with the API server's.
func (o *Options) clockFacts() plan.ClockFacts {
	if o.ClockDifference == nil {
		return plan.ClockFacts{}
	}
	return o.ClockDifference()
}

// Cluster is one cluster: an Observer and an Actor. It hands every question to the part that
// keeps what is needed for the answer.
type Cluster struct {
	*Options

	known      *known
	reader     *reader
	files      *podFiles
	db         *database
	leases     *leaseKeeper
	locks      *lockKeeper
	objects    *objectWriter
	refusals   *refusals
	status     *statusWriter
	inDatabase *databaseWriter
	operators  *operators
}

// New returns a cluster for observation and actions.
func New(o Options) *Cluster { return newCluster(&o) }

func newCluster(o *Options) *Cluster {
	w := &Cluster{Options: o, known: &known{Options: o}}
	w.refusals = &refusals{Options: o}
	w.leases = &leaseKeeper{Options: o, known: w.known, refusals: w.refusals}
	w.db = &database{Options: o, known: w.known, leases: w.leases}
	w.files = &podFiles{Options: o, known: w.known}
	w.reader = &reader{Options: o, known: w.known, db: w.db, files: w.files}
	w.locks = &lockKeeper{Options: o, db: w.db}
	w.objects = &objectWriter{Options: o, refusals: w.refusals}
	w.status = &statusWriter{Options: o, known: w.known}
	w.inDatabase = &databaseWriter{Options: o, known: w.known, db: w.db, status: w.status}
	w.operators = &operators{Options: o, known: w.known}
	return w
}

// NotFoundError means that the custom resource does not exist.
type NotFoundError struct {
	Key types.NamespacedName
	// Kind is the kind of the resource. Default FoundationDBCluster.
	Kind string
}

func (e *NotFoundError) Error() string {
	return kindOr(e.Kind) + " " + e.Key.Name + " not found in namespace " + e.Key.Namespace
}

// InvalidResourceError means that the custom resource is invalid. Only a change of the resource
// helps.
type InvalidResourceError struct {
	Key types.NamespacedName
	Err error
	// Kind is the kind of the resource. Default FoundationDBCluster.
	Kind string
}

func (e *InvalidResourceError) Error() string {
	return kindOr(e.Kind) + " " + e.Key.Name + " is invalid: " + e.Err.Error()
}

// Unwrap returns what is wrong with the resource.
func (e *InvalidResourceError) Unwrap() error { return e.Err }

func kindOr(kind string) string {
	if kind == "" {
		return "FoundationDBCluster"
	}
	return kind
}
