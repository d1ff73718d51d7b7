package commands

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

const (
	// askKubernetes is what the API server alone tells.
	askKubernetes = plan.Record | plan.Nodes | plan.Pods | plan.Volumes | plan.Services | plan.ConfigMap
	// askPods is what has to be asked through the cluster's pods.
	askPods = plan.Database | plan.Coordination | plan.PodFiles

	// slowDatabase is how long the database may take before people are shown what
	// Kubernetes knows. One that is down takes up to 19 s to say so.
	slowDatabase = 5 * time.Second
)

// observation looks at one cluster without changing anything.
type observation struct {
	env *Env
	key types.NamespacedName
	// nodes has nodes read whatever the spec's rules are about.
	nodes bool
	// asks is what the cluster's pods are asked; 0 is everything.
	asks plan.Facet
	// more reads what people want to know beyond that; nil for nothing.
	more func(context.Context, Reader, *plan.Snapshot) error
	// slow is told what Kubernetes knows when the database takes its time; nil tells nobody.
	slow func(ui.Facts)
}

// sight is what an observation saw, and what it saw it through.
type sight struct {
	ui.Facts
	// seen is what was observed, as a pass would: its record not judged anew.
	seen    plan.Snapshot
	session Session
}

// facts reads everything there is to know about the cluster.
func (o observation) facts(ctx context.Context) (ui.Facts, error) {
	l, err := o.look(ctx)
	return l.Facts, err
}

func (o observation) look(ctx context.Context) (sight, error) {
	session, err := o.env.Connect(ctx, o.key)
	if err != nil {
		return sight{}, err
	}
	if o.nodes {
		session.ReadNodes()
	}
	snapshot := plan.Snapshot{}
	if err := session.Observe(ctx, &snapshot, askKubernetes); err != nil {
		return sight{}, err
	}
	facts := ui.Facts{Lease: o.lease(ctx)}
	asked := make(chan error, 1)
	full := snapshot
	go func() { asked <- o.ask(ctx, session, &full) }()

	err = o.await(asked, func() { o.tellSlow(facts, snapshot) })
	switch {
	case ctx.Err() != nil:
		return sight{}, causeOf(ctx, ctx.Err())
	case err != nil:
		full = snapshot
		full.Database.Unreachable = explain(err)
	}
	return sight{Facts: judged(facts, full), seen: full, session: session}, nil
}

// ask asks through the cluster's pods.
func (o observation) ask(ctx context.Context, session Session, into *plan.Snapshot) error {
	asks := o.asks
	if asks == 0 {
		asks = askPods
	}
	if err := session.Observe(ctx, into, asks); err != nil || o.more == nil {
		return err
	}
	return o.more(ctx, session, into)
}

// await returns the answer. When it takes its time it calls slow, once, and says
// every ten seconds that it is still waiting.
func (o observation) await(asked <-chan error, slow func()) error {
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
			o.env.talk("no answer from the database yet, still asking")
		}
	}
}

func (o observation) tellSlow(facts ui.Facts, s plan.Snapshot) {
	o.env.talk("no answer from the database yet, still asking")
	if o.slow == nil {
		return
	}
	s.Database.Unreachable = "it has not answered yet"
	o.slow(judged(facts, s))
}

// lease reads who may act on the cluster. That it cannot be read is shown, and
// keeps nothing else from being shown.
func (o observation) lease(ctx context.Context) ui.Lease {
	return o.env.leaseNamed(ctx, types.NamespacedName{Namespace: o.key.Namespace, Name: live.LeaseName(o.key.Name)})
}

func (e *Env) leaseNamed(ctx context.Context, key types.NamespacedName) ui.Lease {
	c, err := e.Client()
	if err != nil {
		return ui.Lease{}
	}
	lease := &coordinationv1.Lease{}
	err = c.Get(ctx, key, lease)
	switch {
	case apierrors.IsNotFound(err):
		return ui.Lease{Read: true}
	case err != nil:
		return ui.Lease{}
	case lease.Spec.RenewTime == nil:
		return ui.Lease{Read: true}
	}
	term := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second
	return ui.Lease{Read: true, Holder: ptr.Deref(lease.Spec.HolderIdentity, ""), Until: lease.Spec.RenewTime.Add(term)}
}

// judged judges the record anew on what was observed, as a pass would, so that
// conditions are of now and not of the last pass.
func judged(facts ui.Facts, s plan.Snapshot) ui.Facts {
	facts.Recorded = s.Cluster
	d := stages.Cluster()[0].Decide(s) // the first stage brings the record up to date
	if d.Hold != nil && d.Hold.Human {
		facts.Unjudged = d.Hold.Text()
		facts.Warnings = append(facts.Warnings, fmt.Sprintf("the process groups are shown as last recorded: %s", d.Hold.Text()))
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
	facts.Gaps = stages.Gaps(s)
	return facts
}
