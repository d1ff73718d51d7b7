package evictionhook

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Eviction is the requested eviction of a pod that belongs to a cluster.
type Eviction struct {
	// Cluster names the FoundationDBCluster.
	Cluster types.NamespacedName
	// Pod and UID identify the pod; Node is where it runs.
	Pod  string
	UID  types.UID
	Node string
	// User requested the eviction, as the API server authenticated it.
	User string
	// DryRun is true when nothing may be changed because of the request.
	DryRun bool
}

// Epoch numbers the evictions that were allowed of a cluster. Facts that were observed in one epoch
// do not show the eviction that began the next one, so they must not be used in it.
type Epoch int64

// NoEpoch is that of a question whose facts must not be reused at all.
const NoEpoch Epoch = -1

// Decider knows the eviction rules and the state of clusters.
type Decider interface {
	// Decide returns the evaluated questions; the eviction is allowed if there is at least one
	// and all of them hold. An error means that the answer is unknown, which denies. Facts of the
	// same epoch may be reused for a few seconds. Decide changes nothing.
	Decide(ctx context.Context, e Eviction, epoch Epoch) ([]plan.Check, error)
}

// Actor makes a denied eviction possible: it has the process group replaced, or coordinators moved.
type Actor interface {
	// Act does what may be done now, under the same locks and checks as any other run, and
	// returns. It is called again for as long as the eviction is requested and denied. When ctx
	// ends it finishes what must not be cut and returns.
	Act(ctx context.Context, e Eviction, refused []plan.Check) error
}

// Outcome is how a request was answered.
type Outcome string

// The outcomes of requests.
const (
	// Allowed: the eviction rules allow it.
	Allowed Outcome = "allowed"
	// Denied: a rule does not allow it now.
	Denied Outcome = "denied"
	// Busy: another eviction of the cluster is being decided, or not over yet.
	Busy Outcome = "busy"
	// Unknown: the answer could not be determined, which denies.
	Unknown Outcome = "unknown"
	// NotApplicable: the pod is none of a cluster, does not run, or is one of this webhook.
	NotApplicable Outcome = "not-judged"
	// Invalid: the request is malformed.
	Invalid Outcome = "invalid"
)

// Outcomes are all outcomes, in the order of documentation.
func Outcomes() []Outcome { return []Outcome{Allowed, Denied, Busy, Unknown, NotApplicable, Invalid} }
