package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// PlanOptions are how the plan of a dry run is printed, and what is added to it.
type PlanOptions struct {
	format.Flags
	// server validates the plan with the API server.
	server bool
	// Forecast includes a forecast of all passes.
	Forecast bool
	// AtMost are limits of the totals of the forecast.
	AtMost []planned.Limit
	// Simulate is how many simulations with random failures to add.
	Simulate int
}

// Planned returns the options of a dry run that is printed as shows asks.
func (o ReconcileOptions) Planned(shows PlanOptions) ReconcileOptions {
	o.DryRun, o.Output, o.FieldManager, o.shows = DryRunClient, shows.Format, live.FieldManager, &shows
	return o
}

// printed returns how a dry run is printed.
func (f ChangeFlags) printed() PlanOptions {
	o := PlanOptions{Flags: format.Flags{Format: f.Output}, Forecast: true}
	if f.shows != nil {
		o = *f.shows
	}
	o.server = f.DryRun == DryRunServer
	return o
}

// plan returns what a pass would do, with all that a dry run shows beside it.
func (r *Run) plan(ctx context.Context, o PlanOptions) (planned.PlanView, reconcile.PassDone, error) {
	view, done, err := r.Preview(ctx)
	if err != nil {
		return view, done, err
	}
	r.noteRefusals(ctx, &view)
	if err := r.foresee(ctx, &view, o); err != nil {
		return view, done, err
	}
	if err := r.simulate(ctx, &view, o.Simulate); err != nil {
		return view, done, err
	}
	view.Limits = view.Within(o.AtMost)
	view, err = view.Sealed()
	return view, done, err
}

// showPlan prints what a pass would do, and reports whether it would do anything.
func (r *Run) showPlan(ctx context.Context, o PlanOptions) error {
	view, done, err := r.plan(ctx, o)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	if err := format.Plan(r.Env, o.Flags, view, subjectsOf(view)); err != nil {
		return err
	}
	if o.server && len(view.Items) > 0 {
		if err := r.tryOut(ctx, view); err != nil {
			return exit.CauseOf(ctx, err)
		}
	}
	return planEnd(view, done)
}

// Keyed is the change of one resource.
type Keyed struct {
	Key types.NamespacedName
	Change
}

// PlanAll prints what passes over several resources would do, in the order in which they come.
func PlanAll(ctx context.Context, e *session.Env, all []Keyed) error {
	var views []planned.PlanView
	var ends []error
	for _, c := range all {
		r := runOf(e, c.Change)
		if err := r.Open(ctx, c.Key); err != nil {
			return err
		}
		view, done, err := r.plan(ctx, c.printed())
		if err != nil {
			return exit.CauseOf(ctx, err)
		}
		views, ends = append(views, view), append(ends, planEnd(view, done))
	}
	if err := all[0].printed().printAll(e, e.Metadata(all[0].Key), views); err != nil {
		return err
	}
	return MostSignificant(ends)
}

// noteRefusals adds which objects of the plan the API server did not accept when a pass wrote them last.
func (r *Run) noteRefusals(ctx context.Context, v *planned.PlanView) {
	writes := slices.ContainsFunc(v.Items, func(item planned.PlanItem) bool { _, is := item.Details.(plan.Writing); return is })
	if !writes {
		return
	}
	lease := types.NamespacedName{Namespace: r.Key.Namespace, Name: r.Lease}
	refused := r.Env.Lookup().LeaseNamed(ctx, lease).Of(r.LeaseUID()).Refusals
	for _, item := range v.Items {
		if found, is := plan.RefusalOf(item.Details, refused); is {
			v.Refusals = append(v.Refusals, found)
		}
	}
}

// subjectsOf returns the subjects of the plan's actions by kind.
func subjectsOf(v planned.PlanView) []string {
	var names []string
	for _, item := range v.Items {
		names = append(names, item.Kind+"/"+item.Subject)
	}
	return names
}

// planEnd returns the end of a plan command: the answer to "is there anything to do?", unless
// no plan could be made.
func planEnd(v planned.PlanView, done reconcile.PassDone) error {
	failed := done.Outcome == reconcile.Failed || done.Stopped != nil
	exceeded := v.Exceeded()
	switch {
	case failed:
		return &exit.Error{Code: passCode(done), Err: failureOf(done), Printed: true}
	case len(exceeded) > 0:
		return &exit.Error{Code: exit.ExitRefused, Err: fmt.Errorf("the plan exceeds --at-most: %s", strings.Join(exceeded, "; "))}
	case v.Work() > 0, len(v.Holds) > 0:
		return exit.AnswerError{Code: exit.ExitNo}
	default:
		return nil
	}
}
