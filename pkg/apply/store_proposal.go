package apply

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// stageStore is the stage of the audit in which the spec is stored; no pass has it.
const stageStore plan.StageName = "StoreSpec"

// storeProposal has the API server store the change of the spec that the passes carry out. It comes right before the
// first pass, and after another preview of that pass: one that would be refused leaves the spec as it is.
func (p *Passes) storeProposal(ctx context.Context) error {
	c := p.Proposal
	if c == nil {
		return nil
	}
	if err := Audited(p.Env); err != nil {
		return err
	}
	if err := c.Refresh(ctx); err != nil {
		return err
	}
	view, done, err := p.Preview(ctx)
	if err != nil {
		return err
	}
	switch {
	case RefusalOf(view, done) != nil:
		return p.showView(view, done)
	case !c.IsChange():
		return c.Store(ctx)
	case done.Outcome == reconcile.Blocked && onlyRecords(view):
		return exitBlocked(p.subject(), c.Source, view)
	}
	if err := c.MayStore(); err != nil { // a prompt can wait for hours
		return err
	}
	began := p.Env.Clock.Now()
	err = c.Store(ctx)
	of := p.observed.snapshot
	planned.ResourceOf(of).SetUID(c.Stored.GetUID())
	p.audit.about(of)
	p.audit.step(ctx, stageStore, reconcile.Step{
		Kind: "StoreSpec", Subject: p.subject(), Words: "store the spec of " + c.Source,
	}, began, err)
	if err != nil {
		return err
	}
	p.Env.Run.Acted++
	p.Approved.created(string(c.Stored.GetUID()))
	p.Env.Logf("stored the spec of %s: generation %d", c.Source, c.Stored.GetGeneration())
	return nil
}

// onlyRecords reports whether a pass would do nothing but record what it observes.
func onlyRecords(view planned.PlanView) bool {
	return !slices.ContainsFunc(view.Items, func(item planned.PlanItem) bool { return item.Fingerprint != "" })
}

// exitBlocked is the failure of a command whose change no pass could begin to carry out.
func exitBlocked(subject, source string, view planned.PlanView) error {
	why := "manual intervention is required"
	if hold := view.MainHold(); hold != nil {
		why = hold.Reason
	}
	return &exit.Error{Code: exit.ExitRefused, Err: fmt.Errorf("%s: no pass could do anything with the spec of %s: %s (nothing was changed)", subject, source, why)}
}

// created gives the approval for a resource that did not exist its UID: before, it was that of a dry run.
func (a *Approval) created(uid string) {
	for _, of := range []*Identity{a.of, a.Named} {
		if of != nil {
			of.UID = uid
		}
	}
}
