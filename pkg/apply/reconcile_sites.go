package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/sites"
)

// Across is the command over several sites of a database of which a change is the part at one of them.
type Across struct {
	// Env is the environment of the command.
	Env *session.Env
	// Args are its words, without flags that are typed again by themselves.
	Args []string
}

// CarryOutSites previews the parts of a change at the sites of one database that can be read, or confirms them and carries them out
// in turn.
func CarryOutSites(ctx context.Context, e *session.Env, all []SitePlan, f ChangeFlags) error {
	if f.dry() {
		return PlanSites(ctx, e, slices.DeleteFunc(all, func(c SitePlan) bool { return c.Idle }), nil, f.Printed())
	}
	return ReconcileSites(ctx, e, all, ReconcileOptions{ChangeFlags: f})
}

// PlansOfSites returns the plans of --plan by their sites; nil without it.
func (f ChangeFlags) PlansOfSites() (map[string]*planned.ApprovedPlan, error) {
	if f.Plan == "" {
		return nil, nil
	}
	all, err := readSitePlans(f.Plan)
	plans := map[string]*planned.ApprovedPlan{}
	for _, p := range all {
		plans[p.Metadata.Site] = p
	}
	return plans, err
}

// ReconcileSites runs passes over the resources of one database in several Kubernetes clusters, in turn and in their order. A
// site that cannot be read any more ends the command: no pass acts without the Leases of all sites.
func ReconcileSites(ctx context.Context, e *session.Env, all []SitePlan, o ReconcileOptions) error {
	if err := o.canAsk(e); err != nil {
		return err
	}
	t, err := overSites(ctx, e, all, o)
	if err != nil {
		return exit.CauseOf(ctx, err)
	}
	return t.all(ctx)
}

// overSites returns the passes over all sites, once their permissions are verified.
func overSites(ctx context.Context, e *session.Env, all []SitePlan, o ReconcileOptions) (*resourceSet, error) {
	t := resources(e, all[0].Key, o)
	t.sites = true
	var err error
	if t.plans, err = o.PlansOfSites(); err != nil {
		return nil, err
	}
	var inOrder []*Passes
	for _, c := range all {
		if c.Proposal != nil && c.Proposal.MayStore() != nil {
			return nil, sites.Problem(c.Env, withDone(e, c.Proposal.MayStore()))
		}
		session.ActAt(c.Env, e)
		if c.Env.Run.Planned = t.plans[c.Env.Site]; c.Idle { // its digest is stored with the Lease, and in the audit
			c.Env.Run.Planned = nil
		}
		if err := session.MayDo(ctx, c.Env, c.Key.Namespace, c.required()); err != nil {
			return nil, sites.Problem(c.Env, err)
		}
		p, err := openPasses(ctx, c.Env, c.Key, c.Change, NewAuditor(c.Env, c.Key, c.Change))
		if err != nil {
			return nil, sites.Problem(c.Env, err)
		}
		if inOrder = append(inOrder, p); c.Idle {
			continue
		}
		p.out = format.NewPasses(e, o.Output)
		t.attach(p)
		t.members = append(t.members, p)
	}
	slices.SortFunc(inOrder, func(a, b *Passes) int { return cmp.Compare(a.uid, b.uid) })
	for _, p := range t.members {
		p.sites = inOrder
	}
	return t, nil
}

// inCommon is the actor of the pass at one site. It holds the Leases of all sites while the pass acts, so that a run over any
// of them finds its Lease held. They are taken in the order of the resources' UIDs, which is the same for all runs: of two
// that begin at the same time, one gets all of them.
type inCommon struct {
	reconcile.Actor
	of *Passes
}

// Begin implements reconcile.Actor: it takes all Leases, or none.
func (a inCommon) Begin(ctx context.Context) error {
	for i, p := range a.of.sites {
		if err := p.Session.Begin(ctx); err != nil {
			a.release(ctx, a.of.sites[:i])
			return notHeld(p.Env, err)
		}
	}
	return nil
}

// Act implements reconcile.Actor. Nothing is changed at a site while the Lease of another one is lost.
func (a inCommon) Act(ctx context.Context, action plan.Action) error {
	for _, p := range a.of.sites {
		if p == a.of {
			continue // its own session verifies that
		}
		if err := p.Session.Held(ctx); err != nil {
			return notHeld(p.Env, err)
		}
	}
	if deletion, is := action.(plan.DeletePods); is && plan.EffectOf(deletion).Cooldown > 0 {
		if err := a.allRunElsewhere(ctx); err != nil {
			return err
		}
	}
	return a.Actor.Act(ctx, action)
}

// allRunElsewhere returns an error while a pod of another site does not run: the database may tolerate that, and not the loss
// of another fault domain here. Its status has no process groups that do not report.
func (a inCommon) allRunElsewhere(ctx context.Context) error {
	for _, p := range a.of.sites {
		if p == a.of {
			continue
		}
		var s plan.Snapshot
		if err := p.Session.Observe(ctx, &s, plan.ClusterResource|plan.Pods); err != nil {
			return notHeld(p.Env, err)
		}
		down := slices.DeleteFunc(slices.Clone(s.Remaining()), func(g *v1beta2.ProcessGroupStatus) bool {
			pod := s.Pod(g)
			return pod != nil && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning
		})
		if len(down) > 0 {
			return &reconcile.NotYetError{Err: fmt.Errorf("site %s: %s without a running pod, such as %s; no pod is deleted here until all run", p.Env.Site, phrase.Count(len(down), "process group"), down[0].ProcessGroupID)}
		}
	}
	return nil
}

// End implements reconcile.Actor. The Leases protect the database lock, and are released after it.
func (a inCommon) End(ctx context.Context) error {
	err := a.Actor.End(ctx)
	a.release(ctx, slices.DeleteFunc(slices.Clone(a.of.sites), func(p *Passes) bool { return p == a.of }))
	return err
}

// release releases the Leases of sites, the last first. One that cannot be released expires.
func (inCommon) release(ctx context.Context, of []*Passes) {
	for _, p := range slices.Backward(of) {
		if err := p.Session.End(context.WithoutCancel(ctx)); err != nil {
			p.Env.Logf("warning: the Lease expires by itself: %s", exit.Explain(err))
		}
	}
}

// notHeld names the site whose Lease could not be taken, or was lost. Without an answer of its API server no stage of a pass
// at any site can act.
func notHeld(at *session.Env, err error) error {
	if held, is := errors.AsType[*reconcile.HeldError](err); is {
		return &reconcile.HeldError{What: held.What + " of site " + at.Site, Holder: held.Holder, Until: held.Until}
	}
	if exit.CodeOf(err) == exit.ExitUnreachable {
		return &reconcile.UnreachableError{Err: sites.Problem(at, err)}
	}
	return fmt.Errorf("site %s: %w", at.Site, err)
}

// lost returns the site whose API server does not answer any more; nil while all do. The passes after it have no turn.
func (t *resourceSet) lost() *Passes {
	at := slices.IndexFunc(t.members, func(p *Passes) bool { return p.count > 0 && p.unanswered() })
	if !t.sites || at < 0 {
		return nil
	}
	return t.members[at]
}

// unanswered reports whether an API server did not answer the last pass.
func (p *Passes) unanswered() bool {
	_, is := errors.AsType[*reconcile.UnreachableError](p.Last.Stopped)
	return is
}

// previewSites shows what the passes at all sites would do, with what they have in common. The error is why one of them could
// do nothing: then nothing is changed at any site.
func (t *resourceSet) previewSites(ctx context.Context) ([]planned.PlanView, error) {
	views, ends := make([]planned.PlanView, len(t.members)), make([]error, len(t.members))
	for i, p := range t.members {
		view, done, err := p.ToApprove(ctx)
		if err != nil {
			return nil, sites.Problem(p.Env, err)
		}
		views[i], ends[i] = view, RefusalOf(view, done)
		p.Approved.About(p.Seen)
	}
	list := planned.NewPlanList(t.env.Metadata(types.NamespacedName{}), views).OverSites(nil)
	if err := t.members[0].out.ProposedSites(list); err != nil {
		return nil, err
	}
	return views, MostSignificant(ends)
}

// spread gives the environment of each site the number of changes at all of them, which prompts and errors print.
func (t *resourceSet) spread() {
	if !t.sites {
		return
	}
	acted := t.env.Run.Acted
	for _, p := range t.members {
		acted += p.Env.Run.Acted - t.env.Run.Acted
	}
	t.env.Run.Acted = acted
	for _, p := range t.members {
		p.Env.Run.Acted = acted
	}
}
