package commands

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	statusstages "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

const (
	// askKubernetes are the facets read from the API server alone.
	askKubernetes = plan.Record | plan.Nodes | plan.Pods | plan.Volumes | plan.Services | plan.ConfigMap
	// askPods are the facets queried through the cluster's pods.
	askPods = plan.Database | plan.Coordination | plan.PodFiles

	// slowDatabase is how long the database may take before the facts from Kubernetes are
	// shown. It takes up to 19 s to report a database that is down.
	slowDatabase = 5 * time.Second
)

// clusterReader reads one cluster without changing anything.
type clusterReader struct {
	env *Env
	key types.NamespacedName
	// nodes includes nodes regardless of the spec's rules.
	nodes bool
	// asks are the facets queried from the cluster's pods; 0 means all.
	asks plan.Facet
	// more reads additional facts for the user; nil for none.
	more func(context.Context, Reader, *plan.Snapshot) error
	// slow is called with the facts from Kubernetes if the database takes long; nil for none.
	slow func(inspect.Facts)
}

// observation is the result of reading a cluster, and the session that read it.
type observation struct {
	inspect.Facts
	// seen is the snapshot as a pass reads it: its status is not updated.
	seen    plan.Snapshot
	session Session
}

// facts reads all facts about the cluster.
func (o clusterReader) facts(ctx context.Context) (inspect.Facts, error) {
	l, err := o.read(ctx)
	return l.Facts, err
}

func (o clusterReader) read(ctx context.Context) (observation, error) {
	session, err := o.env.Connect(ctx, o.key)
	if err != nil {
		return observation{}, err
	}
	if o.nodes {
		session.ReadNodes()
	}
	snapshot := plan.Snapshot{}
	if err := session.Observe(ctx, &snapshot, askKubernetes); err != nil {
		return observation{}, err
	}
	facts := inspect.Facts{Lease: o.lease(ctx)}
	asked := make(chan error, 1)
	full := snapshot
	go func() { asked <- o.ask(ctx, session, &full) }()

	err = o.await(asked, func() { o.reportSlow(facts, snapshot) })
	switch {
	case ctx.Err() != nil:
		return observation{}, causeOf(ctx, ctx.Err())
	case err != nil:
		full = snapshot
		full.Database.Unreachable = explain(err)
	}
	return observation{Facts: judged(facts, full), seen: full, session: session}, nil
}

// ask queries the cluster's pods.
func (o clusterReader) ask(ctx context.Context, session Session, into *plan.Snapshot) error {
	asks := o.asks
	if asks == 0 {
		asks = askPods
	}
	if err := session.Observe(ctx, into, asks); err != nil || o.more == nil {
		return err
	}
	return o.more(ctx, session, into)
}

// await returns the answer. If it takes long, await calls slow once, and prints progress every
// ten seconds.
func (o clusterReader) await(asked <-chan error, slow func()) error {
	ticker := o.env.Clock.NewTicker(slowDatabase)
	defer ticker.Stop()
	for ticks := 1; ; ticks++ {
		select {
		case err := <-asked:
			return err
		case <-ticker.C():
		}
		if ticks == 1 {
			slow()
		} else if ticks%2 == 1 {
			o.env.logf("waiting for database status…")
		}
	}
}

func (o clusterReader) reportSlow(facts inspect.Facts, s plan.Snapshot) {
	o.env.logf("waiting for database status…")
	if o.slow == nil {
		return
	}
	s.Database.Unreachable = "no answer yet"
	o.slow(judged(facts, s))
}

// lease reads the Lease of the cluster. A failure is shown, and keeps nothing else from being
// shown.
func (o clusterReader) lease(ctx context.Context) inspect.Lease {
	return o.env.leaseNamed(ctx, types.NamespacedName{Namespace: o.key.Namespace, Name: live.LeaseName(o.key.Name)})
}

func (e *Env) leaseNamed(ctx context.Context, key types.NamespacedName) inspect.Lease {
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
	case lease.Spec.RenewTime == nil:
		return inspect.Lease{Read: true}
	}
	term := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second
	return inspect.Lease{Read: true, Holder: ptr.Deref(lease.Spec.HolderIdentity, ""), Until: lease.Spec.RenewTime.Add(term)}
}

// judged updates the status from what was observed, as a pass would, so that conditions are
// current.
func judged(facts inspect.Facts, s plan.Snapshot) inspect.Facts {
	facts.Recorded = s.Cluster
	d := stages.Cluster()[0].Decide(s) // the first stage updates the status
	if d.Hold != nil && d.Hold.Human {
		facts.Unjudged = d.Hold.Text()
		facts.Warnings = append(facts.Warnings, fmt.Sprintf("process groups are shown as of the last status update: %s", d.Hold.Text()))
	}
	for _, c := range d.Checks {
		if !c.OK {
			facts.Warnings = append(facts.Warnings, c.Words())
		}
	}
	for _, a := range d.Actions {
		if edit, ok := a.(plan.Edit); ok {
			s = edit.Apply(s)
		}
	}
	facts.Snapshot = s
	facts.Desired = objects.DesiredConfiguration(s.Cluster)
	facts.Gaps = statusstages.Gaps(s)
	return facts
}
