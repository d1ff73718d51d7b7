package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
	statusstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const (
	// AskKubernetes are the facets read from the API server alone.
	AskKubernetes = plan.ClusterResource | plan.Nodes | plan.Pods | plan.Volumes | plan.Services | plan.ConfigMap | plan.Detector | plan.Namespace
	// askPods are the facets queried through the cluster's pods.
	askPods = plan.Database | plan.Coordination | plan.PodFiles

	// SlowDatabase is how long the database may take before what Kubernetes knows of its pods is
	// shown. It takes up to 19 s to report a database that is down.
	SlowDatabase = 5 * time.Second

	// ViewLimit is how long the tools that one view runs in pods may take together. A database that is
	// down takes up to 19 s, and a pod that does not answer delays the next one by 6 s.
	ViewLimit = 30 * time.Second
)

// ClusterReader reads one cluster without changing anything.
type ClusterReader struct {
	Env *Env
	Key types.NamespacedName
	// Nodes includes nodes regardless of the spec's rules.
	Nodes bool
	// Asks are the facets queried from the cluster's pods; 0 means all.
	Asks plan.Facet
	// Within is how long the tools may take together; 0 means ViewLimit.
	Within time.Duration
	// Shared is where readers of several resources of one database have its status from; nil for a resource alone.
	Shared *SharedDatabase
	// More reads additional facts for the user; nil for none.
	More func(context.Context, Reader, *plan.Snapshot) error
}

// Observation is the result of reading a cluster, and the session that read it.
type Observation struct {
	inspect.Facts
	// Seen is the snapshot as a pass reads it: its status is not updated.
	Seen    plan.Snapshot
	Session Session
}

// Facts reads all facts about the cluster.
func (o ClusterReader) Facts(ctx context.Context) (inspect.Facts, error) {
	l, err := o.Read(ctx)
	return l.Facts, err
}

func (o ClusterReader) Read(ctx context.Context) (Observation, error) {
	conn, err := o.Env.Connect(ctx, o.Key)
	if err != nil {
		return Observation{}, err
	}
	if o.Nodes {
		conn.ReadNodes()
	}
	snapshot := plan.Snapshot{}
	if err := conn.Observe(ctx, &snapshot, AskKubernetes); err != nil {
		return Observation{}, err
	}
	facts := inspect.Facts{Lease: o.Lease(ctx).Of(snapshot.Cluster.UID)}
	facts.Warnings = append(facts.Warnings, facts.Lease.Warnings()...)
	full := snapshot
	limited, done := live.Limited(ctx, cmp.Or(o.Within, ViewLimit))
	defer done()
	requested := beside(func() error { return o.ask(limited, conn, &full) })

	err = o.Await(requested, func() { o.reportSlow(facts, snapshot) })
	_, isFault := errors.AsType[*reconcile.FaultError](err)
	switch {
	case ctx.Err() != nil:
		return Observation{}, exit.CauseOf(ctx, ctx.Err())
	case isFault:
		return Observation{}, err
	case err != nil:
		full, err = snapshot, exit.CauseOf(limited, err)
		full.Database.Unreachable, full.Database.Forbidden = exit.Explain(err), apierrors.IsForbidden(err)
	}
	return Observation{Facts: Judged(facts, full), Seen: full, Session: conn}, nil
}

// LimitedView returns the context of all that one view reads through pods: see ViewLimit.
func LimitedView(ctx context.Context) (context.Context, context.CancelFunc) {
	return live.Limited(ctx, ViewLimit)
}

// ask queries the cluster's pods.
func (o ClusterReader) ask(ctx context.Context, conn Session, into *plan.Snapshot) error {
	asks := o.Asks
	if asks == 0 {
		asks = askPods
	}
	if err := o.Shared.observe(ctx, conn, into, asks); err != nil || o.More == nil {
		return err
	}
	return o.More(ctx, conn, into)
}

// beside runs do concurrently and returns what receives its error. A panic becomes that error: in a goroutine of its own it
// would end the program without restoring the terminal.
func beside(do func() error) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- reconcile.Guarded(do) }()
	return answer
}

// Await returns the answer. If it takes long, await calls slow once, and prints progress every
// ten seconds.
func (o ClusterReader) Await(requested <-chan error, slow func()) error {
	ticker := o.Env.Clock.NewTicker(SlowDatabase)
	defer ticker.Stop()
	for ticks := 1; ; ticks++ {
		select {
		case err := <-requested:
			return err
		case <-ticker.C():
		}
		if ticks == 1 {
			slow()
		} else if ticks%2 == 1 {
			o.Env.Logf("waiting for database status…")
		}
	}
}

// reportSlow prints one line: what Kubernetes knows of the pods, since it is known already.
func (o ClusterReader) reportSlow(facts inspect.Facts, s plan.Snapshot) {
	judged := Judged(facts, s)
	groups, ready := judged.Groups(), 0
	for _, g := range groups {
		if pod := judged.Pod(g); pod != nil && objects.Serves(pod) {
			ready++
		}
	}
	o.Env.Logf("waiting for database status (no answer for %s; %s %s ready)…",
		phrase.Duration(SlowDatabase), phrase.CountOf(ready, len(groups), "pod"), phrase.EitherOf(ready, len(groups), "is", "are"))
}

// Lease reads the Lease of the cluster. A failure is shown, and keeps nothing else from being
// shown.
func (o ClusterReader) Lease(ctx context.Context) inspect.Lease {
	return o.Env.Lookup().LeaseNamed(ctx, types.NamespacedName{Namespace: o.Key.Namespace, Name: live.LeaseName(o.Key.Name)})
}

// NamespaceRules reads the quotas and ranges of the cluster's namespace. What cannot be read is a fact.
func (o ClusterReader) NamespaceRules(ctx context.Context) plan.NamespaceFacts {
	c, err := o.Env.Lookup().Client()
	if err != nil {
		return plan.NamespaceFacts{QuotasHidden: err.Error(), LimitsHidden: err.Error()}
	}
	return live.ReadNamespace(ctx, c, o.Key.Namespace)
}

func (e Lookup) LeaseNamed(ctx context.Context, key types.NamespacedName) inspect.Lease {
	c, err := e.Client()
	if err != nil {
		return inspect.Lease{}
	}
	lease := &coordinationv1.Lease{}
	err = c.Get(ctx, key, lease)
	switch {
	case apierrors.IsNotFound(err):
		return inspect.Lease{Read: true}
	case err != nil:
		return inspect.Lease{}
	}
	read := inspect.Lease{Read: true, Operation: live.OperationOf(lease), Abort: live.AbortOf(lease), Refusals: live.RefusalsOf(lease), RefusalsUID: live.RefusalsUID(lease)}
	if o := read.Operation; o != nil {
		read.OperationActive = live.IsOperationActive(*o, e.Clock.Now())
		if read.Abort != nil && read.Abort.ID != o.ID {
			read.Abort = nil // of an operation that has ended
		}
	}
	if lease.Spec.RenewTime != nil {
		term, odd := live.LeaseTerm(lease)
		read.Holder, read.Until, read.OddTerm = ptr.Deref(lease.Spec.HolderIdentity, ""), lease.Spec.RenewTime.Add(term), odd
	}
	return read
}

// Judged updates the status from what was observed, as a pass would, so that conditions are
// current.
func Judged(facts inspect.Facts, s plan.Snapshot) inspect.Facts {
	facts.Recorded = s.Cluster
	facts.Warnings = append(facts.Warnings, s.Clock.Warnings()...)
	if err := plan.InvalidSpecError(s.InvalidSpec); err != nil {
		return unjudged(facts, s)
	}
	d := statusstages.UpdateStatus.Decide(s)
	if d.Hold != nil && d.Hold.Manual {
		facts.Unjudged = d.Hold.Text()
		facts.Warnings = append(facts.Warnings, fmt.Sprintf("process groups are shown as of the last status update: %s", d.Hold.Text()))
	}
	for _, c := range d.Checks {
		if !c.OK {
			facts.Warnings = append(facts.Warnings, c.Text())
		}
	}
	for _, a := range d.Actions {
		if edit, ok := a.(plan.Edit); ok {
			s = edit.Apply(s)
		}
	}
	facts.Snapshot = s
	facts.Desired = objects.DesiredConfiguration(s.Cluster)
	facts.Gaps, facts.MarkReasons = statusstages.Gaps(s), replacements.MarkReasons(s, plan.Options{})
	return facts.IndexProcesses()
}

// unjudged shows a cluster whose spec is invalid as it was recorded: nothing is compared with such a spec.
func unjudged(facts inspect.Facts, s plan.Snapshot) inspect.Facts {
	facts.Unjudged = "the spec is invalid"
	facts.Snapshot = s
	facts.Desired = objects.DesiredConfiguration(s.Cluster)
	facts.Gaps.Reasons = []string{facts.Unjudged}
	facts.Gaps.Generations = s.Cluster.Status.Generations
	return facts.IndexProcesses()
}

// ConditionClock remembers since when conditions hold that no pass has recorded yet: each read
// updates the status again, and would show them as new each time.
type ConditionClock map[conditionOf]time.Time

type conditionOf struct {
	group v1beta2.ProcessGroupID
	kind  v1beta2.ProcessGroupConditionType
}

// Keep sets conditions back to when they were first seen, and drops those that ended. The
// returned resource is a copy if anything differs.
func (m *ConditionClock) Keep(judged *v1beta2.FoundationDBCluster) *v1beta2.FoundationDBCluster {
	before, now := *m, ConditionClock{}
	cluster := judged.DeepCopy()
	for _, g := range cluster.Status.ProcessGroups {
		for _, c := range g.ProcessGroupConditions {
			key := conditionOf{g.ProcessGroupID, c.Type}
			now[key] = time.Unix(c.Timestamp, 0)
			if first, seen := before[key]; seen && first.Before(now[key]) {
				now[key], c.Timestamp = first, first.Unix()
			}
		}
	}
	*m = now
	return cluster
}
