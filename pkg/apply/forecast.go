package apply

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// longestForecast bounds the computing time of a forecast: a plan without one is better than a
// plan that comes late.
const longestForecast = 10 * time.Second

// Codes of forecasts that are not made.
const (
	noForecastFacts = "facts-missing" // part of the cluster state cannot be read
	noForecastTime  = "too-slow"      // the cluster is too large, or too much is to be done
)

// forecastFacets are what a simulation begins with.
const forecastFacets = plan.ClusterResource | plan.Pods | plan.Volumes | plan.Services | plan.ConfigMap | plan.Database | plan.Coordination

// seen collects what a preview observes, as it was observed: a preview edits its own snapshot.
type seen struct {
	snapshot plan.Snapshot
	facets   plan.Facet
}

// report takes one event of the preview.
func (s *seen) report(e reconcile.Event) {
	o, ok := e.(reconcile.Observed)
	if !ok {
		return
	}
	fresh := o.Facets &^ s.facets
	s.snapshot = s.snapshot.With(fresh, o.Snapshot)
	s.snapshot.Now, s.snapshot.Overrides, s.facets = o.Snapshot.Now, o.Snapshot.Overrides, s.facets|fresh
}

// foresee adds a forecast of all passes to a plan with something to do.
func (r *Run) foresee(ctx context.Context, view *planned.PlanView, o PlanOptions) error {
	if !o.Forecast || !r.hasFuture(*view) {
		r.weigh(ctx, view)
		return nil
	}
	peak := r.peak(ctx)
	f, err := r.play(ctx, peak)
	if err != nil {
		return err
	}
	f.Begins = r.begins && f.Unavailable == nil
	view.Forecast = &f
	if view.NamespaceRules = peak.Rules(); f.Unavailable != nil {
		r.weigh(ctx, view)
	}
	return nil
}

// Foresee adds a forecast of all passes to a preview of this run, from what it has observed; none to a preview with nothing
// to do.
func (r *Run) Foresee(ctx context.Context, view *planned.PlanView) error {
	if !r.hasFuture(*view) {
		return nil
	}
	f, err := r.play(ctx, nil)
	view.Forecast = &f
	return err
}

// simulate adds simulations with failures to a plan with something to do.
func (r *Run) simulate(ctx context.Context, view *planned.PlanView, o PlanOptions) error {
	if o.Simulate == 0 && !o.SimulateAll || !r.hasFuture(*view) {
		return nil
	}
	s, err := r.completed(ctx)
	request := forecast.Request{Observed: s, Stages: r.stages(), Seed: r.Seed}
	var missing *planned.NoForecast
	if err != nil {
		missing = &planned.NoForecast{Code: noForecastFacts, Detail: err.Error()}
	}
	switch {
	case missing != nil && o.SimulateAll:
		view.SingleFaults = &planned.SingleFaults{Unavailable: missing, Histories: []planned.SingleFault{}}
		return ctx.Err()
	case missing != nil:
		view.Simulations = &planned.Simulations{Unavailable: missing, Runs: []planned.Simulation{}}
		return ctx.Err()
	case o.SimulateAll:
		all, err := forecast.Exhaust(ctx, request)
		view.SingleFaults = &all
		return err
	default:
		all, err := forecast.Simulate(ctx, request, o.Simulate)
		view.Simulations = &all
		return err
	}
}

// hasFuture reports whether a plan is one that passes can follow.
func (r *Run) hasFuture(view planned.PlanView) bool {
	return r.ResourceKind == nil && view.Pass.Stopped == "" && view.Pass.Outcome != reconcile.Failed && len(view.Items)+len(view.Holds) > 0 && len(view.Refused()) == 0
}

// play forecasts; what keeps it from that, other than the end of the command, is part of the
// forecast.
func (r *Run) play(ctx context.Context, peak *admission.Peak) (planned.Forecast, error) {
	s, err := r.completed(ctx)
	if err != nil {
		return planned.NoForecastFor(noForecastFacts, err.Error()), ctx.Err()
	}
	limited, stop := context.WithTimeout(ctx, longestForecast)
	defer stop()
	f, err := forecast.Play(limited, forecast.Request{Observed: s, Stages: r.stages(), Seed: r.Seed, Peak: peak})
	if err != nil {
		return planned.NoForecastFor(noForecastTime, ""), ctx.Err()
	}
	return f, nil
}

// completed returns what the preview observed, and observes what a simulation needs besides.
func (r *Run) completed(ctx context.Context) (plan.Snapshot, error) {
	s := r.observed.snapshot
	missing := forecastFacets &^ r.observed.facets
	if missing == 0 {
		return s, nil
	}
	more := s
	if err := r.Session.Observe(ctx, &more, missing); err != nil {
		return s, err
	}
	return s.With(missing, more), nil
}

// peak begins to count what pods and PVCs add to the quotas of the namespace, with those that the preview observed.
func (r *Run) peak(ctx context.Context) *admission.Peak {
	facts := (session.ClusterReader{Env: r.Env, Key: r.Key}).NamespaceRules(ctx)
	return admission.NewPeak(facts, admission.Objects(r.observed.snapshot.Pods, r.observed.snapshot.Volumes))
}

// weigh compares what the next pass creates with the quotas and ranges of the namespace.
func (r *Run) weigh(ctx context.Context, view *planned.PlanView) {
	var created []metav1.Object
	for _, item := range view.Items {
		if o := admission.Created(item.Details); o != nil {
			created = append(created, o)
		}
	}
	if len(created) == 0 {
		return
	}
	p := r.peak(ctx)
	for _, item := range view.Items {
		p.Acted(item.Details)
	}
	p.Count(append(admission.Objects(r.observed.snapshot.Pods, r.observed.snapshot.Volumes), created...))
	view.NamespaceRules = p.Rules()
}
