package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// ReadPlan reads the file of --plan.
func ReadPlan(path string) (*planned.ApprovedPlan, error) {
	var p *planned.ApprovedPlan
	err := readPlanFile(path, "a valid plan", func(text []byte) (err error) {
		p, err = planned.ReadPlan(text)
		return err
	}, "plans are printed by --dry-run -o json of the same command")
	return p, err
}

// ReadPlans reads the file of --plan of a change of several resources: a list of plans, each with the digests of what it
// shows.
func ReadPlans(path string) (all []*planned.ApprovedPlan, err error) {
	err = readPlanFile(path, "a valid list of plans", func(text []byte) (err error) {
		all, err = planned.ReadPlans(text)
		return err
	}, "lists of plans are printed by --dry-run -o json of the same command for several resources")
	return all, err
}

// readSitePlans reads the file of --plan of a change at the sites of one database.
func readSitePlans(path string) (all []*planned.ApprovedPlan, err error) {
	err = readPlanFile(path, "a valid list of the plans of several sites", func(text []byte) error {
		all, err = planned.ReadSitePlans(text)
		return err
	}, "such lists are printed by --dry-run -o json of the same command")
	return all, err
}

// ReadDocument reads the file of --plan of a command that carries out steps: a document of a kind, with digests of what
// it shows. The words of what name such documents.
func ReadDocument(path, kind, what string, into any) error {
	return readPlanFile(path, what, func(text []byte) error { return inspect.ReadSaved(text, kind, into) })
}

func readPlanFile(path, what string, read func(text []byte) error, hints ...string) error {
	text, err := limit.File(path, limit.Plan)
	if err != nil {
		return exit.Usage(fmt.Errorf("invalid --plan: %w", err))
	}
	if err := read(text); err != nil {
		return exit.Usage(fmt.Errorf("%s is not %s: %w (nothing was changed)", path, what, err), hints...)
	}
	return nil
}

// adopt makes an approved plan the approval of the passes, once it is verified to be of this
// command and resource.
func (a *approving) adopt(approved *planned.ApprovedPlan, key types.NamespacedName) error {
	of, name := approved.Metadata, a.Change.ResourceKind.Named(key).Name
	switch {
	case of.Cluster != name || of.Namespace != key.Namespace:
		return exit.Usagef("plan %s is for %s in namespace %s, not for %s in namespace %s (nothing was changed)", a.Plan, inFull(of.Cluster), of.Namespace, inFull(name), key.Namespace)
	case approved.Command[0] != a.Args[0]:
		return exit.Usagef("plan %s is for the command %s, not for %s (nothing was changed)", a.Plan, approved.Command[0], a.Args[0])
	}
	a.Seed = approved.SeedNumber()
	a.Approved.addFile(approved)
	return nil
}

// inFull returns the name in a document as text: a cluster has no prefix there.
func inFull(named string) string {
	if strings.Contains(named, "/") {
		return named
	}
	return "cluster " + named
}

// confirmPlan verifies that the cluster state is unchanged since the plan was approved, and
// without --yes prompts for confirmation.
func (a *approving) confirmPlan(ctx context.Context, approved *planned.ApprovedPlan) error {
	view, done, err := a.Preview(ctx)
	if err != nil {
		return err
	}
	if failed := done.Outcome == reconcile.Failed || done.Stopped != nil; failed {
		return a.showView(view, done)
	}
	if approved.IsOfNew() && (view.Proposed == nil || !view.Proposed.New) { // it was created since, with the spec of the plan as the comparison shows
		approved.Observed.UID, a.Approved.of.UID = view.Observed.UID, view.Observed.UID
	}
	if view.Observed.UID != approved.Observed.UID {
		return exit.Usagef("plan %s is for another %s %s: one in another Kubernetes cluster, or one that was deleted since (nothing was changed)", a.Plan, a.noun(), a.Key.Name)
	}
	if err := a.compare(ctx, approved, view); err != nil {
		return err
	}
	switch {
	case !a.LosesData(view) && a.agreed():
		return nil
	case a.LosesData(view) && a.agreedByName():
		a.Approved.Named = &a.Seen
		return nil
	case !a.Env.Prompt().Interactive():
		return a.unnamed()
	}
	if err := a.showView(view, done); err != nil || len(view.Items) == 0 {
		return err
	}
	return a.question(ctx, view)
}

// compare refuses if the plan would now be different. Differences caused by the plan itself do
// not count, if the last run that changed the cluster is known to have carried out this plan.
func (a *approving) compare(ctx context.Context, approved *planned.ApprovedPlan, now planned.PlanView) error {
	differences := approved.Differences(now)
	if len(differences) == 0 {
		return nil
	}
	if approved.OnlyDone(differences) && BegunBefore(ctx, a.Env, types.NamespacedName{Namespace: a.Key.Namespace, Name: a.Lease}, approved.Digest) {
		a.Env.Logf("resuming plan %s: of %s %d %s done", a.Plan, phrase.Count(len(approved.Items), "action"), len(differences), phrase.Is(len(differences)))
		return nil
	}
	return StalePlan(differences, a.planAgain("create a new plan"))
}

// StalePlan returns the failure of a command whose plan would be another one by now.
func StalePlan(differences []planned.PlanDifference, hint string) error {
	check := plan.Check{ID: plan.CheckPlanCurrent, Question: "is the cluster state the same as when the plan was made?", Evidence: "it has changed (nothing was changed by this run)", Gate: plan.GatePlan}
	return &exit.Error{Code: exit.ExitConflict, Err: &reconcile.RefusedError{Check: check}, Differences: differences, Hints: []string{hint}}
}

// BegunBefore reports whether the last run that held the Lease carried out the plan with this digest. If that is
// unknown, it did not.
func BegunBefore(ctx context.Context, e *session.Env, lock types.NamespacedName, digest string) bool {
	c, err := e.Client()
	if err != nil {
		return false
	}
	lease := &coordinationv1.Lease{}
	err = c.Get(ctx, lock, lease)
	return err == nil && digest != "" && lease.Annotations[live.AnnotationPlan] == digest
}

// beyondPlan reports whether the last pass had more to do than an approved plan has.
func (o *outcome) beyondPlan() bool {
	var beyond *reconcile.BeyondPlanError
	return o.approved != nil && errors.As(o.Last.Stopped, &beyond)
}

// planAgain returns the hint to have another plan approved.
func (j *job) planAgain(why string) string {
	c := j.Change
	c.Args = j.words()
	words := c.Command()
	for _, flag := range session.ResumedFlags(j.Env) {
		if j.Proposal != nil && slices.Contains(session.ProposalFlags, strings.TrimLeft(flag.Name, "-")) || j.Across != nil && slices.Contains(session.SiteFlags, strings.TrimLeft(flag.Name, "-")) {
			words = append(words, flag.Words...)
		}
	}
	return why + ": " + j.line(append(words, "--dry-run", "-o", "json")...) + " > " + session.Quoted(j.Plan)
}

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
	// Prune adds what the deletion of resources would do that the manifests do not have.
	Prune bool
	// SimulateAll adds a simulation for each fault at each step.
	SimulateAll bool
}

// Planned returns the options of a dry run that is printed as shows asks.
func (o ReconcileOptions) Planned(shows PlanOptions) ReconcileOptions {
	o.DryRun, o.Output, o.FieldManager, o.shows = DryRunClient, shows.Format, live.FieldManager, &shows
	return o
}

// Printed returns how a dry run is printed.
func (f ChangeFlags) Printed() PlanOptions {
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
	if err := r.simulate(ctx, &view, o); err != nil {
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

// subject returns the resource as documents name it.
func (c Keyed) subject() string { return c.ResourceKind.Named(c.Key).Name }

// planAll prints what passes over several resources would do, in the order in which they come. A plan that is refused does
// not withhold the others.
func planAll(ctx context.Context, e *session.Env, all []Keyed) error {
	runs, views, ends := make([]Run, len(all)), make([]planned.PlanView, len(all)), make([]error, 0, len(all))
	for i, c := range all {
		runs[i] = runOf(e, c.Change)
		if err := runs[i].Open(ctx, c.Key); err != nil {
			return err
		}
		view, done, err := runs[i].plan(ctx, c.Printed())
		if err != nil {
			return exit.CauseOf(ctx, err)
		}
		views[i], ends = view, append(ends, planEnd(view, done))
	}
	first := all[0]
	e.Run.About = first.Key
	list := planned.NewPlanList(e.Metadata(first.ResourceKind.Named(first.Key)), views)
	if first.Printed().Prune {
		var err error
		if list.Pruned, err = pruned(ctx, e, all); err != nil {
			return exit.CauseOf(ctx, err)
		}
		if len(list.Pruned) > 0 {
			ends = append(ends, exit.AnswerError{Code: exit.ExitNo})
		}
	}
	if err := first.Printed().printAll(e, list); err != nil {
		return err
	}
	if first.DryRun == DryRunServer {
		ends = append(ends, tryOutAll(ctx, runs, views))
	}
	return MostSignificant(ends)
}

// tryOutAll submits the plans as a server dry run. Those of backups and restores cannot be.
func tryOutAll(ctx context.Context, runs []Run, views []planned.PlanView) error {
	var ends []error
	for i, r := range runs {
		switch {
		case len(views[i].Items) == 0:
		case r.ResourceKind != nil:
			r.Env.Logf("%s: not checked: only changes of clusters can be submitted", r.ResourceKind.Named(r.Key).Name)
		default:
			ends = append(ends, exit.CauseOf(ctx, r.tryOut(ctx, views[i])))
		}
	}
	return MostSignificant(ends)
}

func (o PlanOptions) printAll(env *session.Env, list planned.PlanListView) error {
	all := format.Printable{Document: list, Table: func(w io.Writer) error {
		for _, view := range list.Plans {
			if err := format.Plan(env, o.Flags, view, subjectsOf(view)); err != nil {
				return err
			}
		}
		format.Pruned(env, w, list.Pruned)
		return nil
	}}
	for _, view := range list.Plans {
		all.Names = append(all.Names, subjectsOf(view)...)
	}
	return o.Print(env.Out, all)
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
	case v.SingleFaults != nil && v.SingleFaults.Broken > 0:
		return &exit.Error{Code: exit.ExitRefused, Err: fmt.Errorf("an invariant does not hold in %s of --simulate all", phrase.Count(v.SingleFaults.Broken, "simulation"))}
	case len(exceeded) > 0:
		return &exit.Error{Code: exit.ExitRefused, Err: fmt.Errorf("the plan exceeds --at-most: %s", strings.Join(exceeded, "; "))}
	case v.Work() > 0, len(v.Holds) > 0:
		return exit.AnswerError{Code: exit.ExitNo}
	default:
		return nil
	}
}
