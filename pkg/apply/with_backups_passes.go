package apply

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// planTogether shows what passes over a cluster, its backups and its restores would do.
func planTogether(ctx context.Context, e *session.Env, key types.NamespacedName, o ReconcileOptions) error {
	t := resources(e, key, o)
	all := []Keyed{{key, t.change(nil)}}
	err := t.others(ctx, func(kind *session.ResourceKind, resource client.Object) error {
		all = append(all, Keyed{client.ObjectKeyFromObject(resource), t.change(kind)})
		return nil
	})
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	return planAll(ctx, e, all)
}

// all runs passes over all of them in turn, until nothing is left that a wait could change.
func (t *resourceSet) all(ctx context.Context) error {
	if !t.sites {
		defer seeChanges(t.members)()
	}
	for _, p := range t.held() {
		if err := p.refuseBeside(ctx); err != nil {
			return exit.CauseOf(ctx, err)
		}
	}
	if err := t.approve(ctx); err != nil {
		return exit.CauseOf(ctx, err)
	}
	ctx, stop := session.WithTimeout(ctx, t.env.Clock, t.options.Timeout)
	defer stop()
	ctx, end := beginOperations(ctx, t.members)
	defer end()
	if err := t.storeProposals(ctx); err != nil {
		return exit.CauseOf(ctx, err)
	}
	for again := true; again; {
		err := t.round(ctx)
		if err == nil {
			again, err = t.wait(ctx)
		}
		if err != nil {
			return t.finish(ctx, err)
		}
	}
	return t.finish(ctx, nil)
}

// held returns the passes whose Leases are held: at the sites of one database also those that change nothing.
func (t *resourceSet) held() []*Passes {
	if t.sites {
		return t.members[0].sites
	}
	return t.members
}

// approve has all of it approved before anything is changed.
func (t *resourceSet) approve(ctx context.Context) error {
	if !t.alone {
		return t.agree(ctx, "Apply all of these changes?")
	}
	p := t.members[0]
	p.report = p.out.EventsWithProgress()
	if err := p.approve(ctx); err != nil {
		return err
	}
	p.out.Progress.Begin()
	return nil
}

// beginOperations publishes the passes over each resource with its Lease, until the returned function is called.
func beginOperations(ctx context.Context, members []*Passes) (of context.Context, end func()) {
	if len(members) == 0 {
		return ctx, func() {}
	}
	ctx, endFirst := members[0].beginOperation(ctx)
	ctx, endOthers := beginOperations(ctx, members[1:])
	return ctx, func() { endOthers(); endFirst() }
}

// agree prompts once for what all of them would do, and also for the name of what would lose
// data. Nothing was changed before.
func (t *resourceSet) agree(ctx context.Context, question string) error {
	if t.plans != nil {
		return t.confirmPlans(ctx)
	}
	if t.options.agreed() {
		return nil
	}
	views, err := t.previews(ctx)
	if err != nil {
		return err
	}
	desired := 0
	for i, p := range t.members {
		if desired += len(views[i].Items); p.Proposal != nil && p.Proposal.IsChange() {
			desired++
		}
	}
	if desired == 0 {
		return nil
	}
	if err := t.env.Prompt().Confirm(ctx, question); err != nil {
		return err
	}
	for i, p := range t.members {
		if p.LosesData(views[i]) {
			if err := p.question(ctx, views[i]); err != nil {
				return err
			}
		}
		p.Approved.Add(views[i])
	}
	return nil
}

// previews shows what all of them would do, in their order.
func (t *resourceSet) previews(ctx context.Context) ([]planned.PlanView, error) {
	if t.sites {
		return t.previewSites(ctx)
	}
	views := make([]planned.PlanView, len(t.members))
	for i, p := range t.members {
		view, err := p.show(ctx)
		if err != nil && (ctx.Err() != nil || p.Proposal != nil) { // no spec is stored beside a refused one
			return nil, err
		}
		if err != nil { // its own pass reports it; the others continue
			t.env.Logf("%s: %s", p.subject(), exit.Explain(err))
			view = planned.PlanView{}
		}
		views[i] = view
		p.Approved.About(p.Seen)
	}
	return views, nil
}

// confirmPlans verifies that nothing changed since the plans were approved, of any of the resources.
func (t *resourceSet) confirmPlans(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(t.plans)) {
		if !slices.ContainsFunc(t.members, func(p *Passes) bool { return p.ofPlan() == name }) {
			return exit.Usagef("plan %s is for %s, which %s (nothing was changed)", t.options.Plan, name, t.absent())
		}
	}
	for _, p := range t.members {
		if p.approved == nil {
			return exit.Usagef("plan %s has no plan for %s (nothing was changed)", t.options.Plan, p.ofPlan())
		}
		if err := p.confirmPlan(ctx, p.approved); err != nil {
			return err
		}
	}
	return nil
}

// ofPlan returns what names the plan of a resource among several: its site, or the resource.
func (j *job) ofPlan() string { return cmp.Or(j.Env.Site, j.subject()) }

// absent is why a resource of a plan is not among those of the command.
func (t *resourceSet) absent() string {
	switch {
	case t.options.Proposed:
		return "the manifests do not have"
	case t.sites:
		return "the command does not change"
	}
	return "does not exist any more"
}

// round runs one pass over each. The error is one that ends the command.
func (t *resourceSet) round(ctx context.Context) error {
	for _, p := range t.members {
		if why := t.notYet(p); why != "" {
			p.holdUp(why)
			p.next = p.settle(ctx)
			continue
		}
		err := t.one(ctx, p)
		t.spread()
		if err != nil || t.lost() != nil {
			return err
		}
	}
	return nil
}

// notYet returns why a resource has to wait: nothing is restored to a cluster of the command whose database was not found
// available in this round.
func (t *resourceSet) notYet(p *Passes) string {
	if available, isMember := t.available[p.Of]; p.Run.ResourceKind == session.RestoreKind && isMember && !available {
		return "waiting for the database of cluster " + p.Of + " to be available"
	}
	return ""
}

// holdUp stands for a pass that has to wait.
func (p *Passes) holdUp(why string) {
	const delay = 10 * time.Second
	p.err, p.Last, p.why = nil, reconcile.PassDone{Outcome: reconcile.Waiting, RetryAfter: delay}, session.Summary{}
	p.report(reconcile.StageDone{Stage: plan.StageStartRestore, Outcome: reconcile.Waiting, Reason: why})
	p.why.Report(reconcile.StageDone{Stage: plan.StageStartRestore, Outcome: reconcile.Waiting, Reason: why})
}

// one runs a pass over one of them, and again if the user approves actions beyond what was
// shown. Then it is settled what follows.
func (t *resourceSet) one(ctx context.Context, p *Passes) error {
	for {
		p.err = p.once(ctx)
		if ctx.Err() != nil && p.err != nil {
			return p.err
		}
		var beyond *reconcile.BeyondPlanError
		if !errors.As(p.Last.Stopped, &beyond) || beyond.Recreated || p.approved != nil || !p.Env.Prompt().Interactive() {
			p.next = p.settle(ctx)
			return nil
		}
		p.Env.Logf("%s", p.amongOthers(beyond.Error()))
		if err := p.askAgain(ctx); err != nil {
			return exit.CauseOf(ctx, err)
		}
	}
}

// amongOthers returns a line about passes that names their resource where there are others.
func (j *job) amongOthers(words string) string {
	if j.shared {
		return j.title() + ": " + words
	}
	return words
}

// wait waits until the first of them is due; again is false where none waits.
func (t *resourceSet) wait(ctx context.Context) (again bool, err error) {
	var due *Passes
	for _, p := range t.members {
		if p.next != nil && (due == nil || p.next.after < due.next.after) {
			due = p
		}
	}
	switch lost := t.lost(); {
	case due == nil, lost != nil && lost.next == nil:
		return false, nil
	case t.alone && due.next.reason != "":
		return true, due.wait(ctx, due.next.after, due.next.reason)
	case t.alone:
		return true, t.env.Waiting().Pause(ctx, due.next.after, "")
	case t.sites:
		return true, t.env.Waiting().Pause(ctx, max(due.next.after, t.options.Interval), t.waitsFor())
	default:
		return true, t.waiting().wait(ctx, max(due.next.after, t.options.Interval), t.waitsFor())
	}
}

// waiting returns the first of them that waits, or the first if none does.
func (t *resourceSet) waiting() *Passes {
	for _, p := range t.members {
		if p.next != nil {
			return p
		}
	}
	return t.members[0]
}

func (t *resourceSet) waitsFor() string {
	_, reason := t.waiting().waitsFor()
	return t.waiting().title() + ": " + reason
}

// finish prints how each ended, and ends the command with the most significant end.
func (t *resourceSet) finish(ctx context.Context, err error) error {
	if t.alone {
		return t.members[0].finish(ctx, cmp.Or(err, t.members[0].err))
	}
	ends := make([]error, len(t.members))
	for i, p := range t.members {
		ends[i] = p.end(ctx, p.err)
	}
	end := MostSignificant(ends)
	if err != nil {
		end = t.waiting().end(ctx, err)
	}
	if t.options.Output == "json" {
		return errors.Join(t.members[0].out.Result(t.document(ends, end), nil), end)
	}
	for i, p := range t.members {
		if p.hadNoTurn() {
			p.out.Line("%s: no pass was run", p.title())
			continue
		}
		p.out.Line("%s", p.sentence(ends[i]))
		p.noteHousekeeping()
	}
	return end
}

// hadNoTurn reports whether no pass ran over it, nor was held up.
func (p *Passes) hadNoTurn() bool { return p.count == 0 && len(p.why.Ends) == 0 }

func (t *resourceSet) document(ends []error, end error) inspect.ReconcileResultList {
	v := inspect.ReconcileResultList{
		Document: inspect.NewDocument("ReconcileResultList", t.env.Metadata(t.members[0].Run.ResourceKind.Named(t.key)), t.env.Clock.Now(), inspect.SourceLive),
		ExitCode: exit.Code(end),
	}
	for i, p := range t.members {
		if p.hadNoTurn() {
			continue
		}
		r := p.result(ends[i])
		v.Outcome, v.Acted = max(v.Outcome, r.Outcome), v.Acted+r.Acted
		v.Resources = append(v.Resources, inspect.ResourceReconcile{
			Resource: p.subject(), Site: p.Env.Site, Outcome: r.Outcome, Passes: r.Passes, Acted: r.Acted, Reason: r.Reason, ExitCode: r.ExitCode,
		})
	}
	return v
}

// codesBySignificance are exit codes by significance: first what the user must fix, then what is
// unknown, then what other runs or time will clear.
var codesBySignificance = []int{
	exit.ExitInternal, exit.ExitUsage, exit.ExitForbidden, exit.ExitUnreachable, exit.ExitUnconfirmed, exit.ExitPartly, exit.ExitRefused, exit.ExitConflict, exit.ExitWaiting, exit.ExitNo,
}

// MostSignificant returns the end of a command over several resources: the most significant of
// theirs, the first of its kind.
func MostSignificant(ends []error) error {
	for _, code := range codesBySignificance {
		for _, end := range ends {
			if end != nil && exit.Code(end) == code {
				return end
			}
		}
	}
	return nil
}
