package apply

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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
	if RefusalOf(view, done) != nil {
		return p.showView(view, done)
	}
	if !c.IsChange() {
		return c.Store(ctx)
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
	p.Approved.created(string(c.Stored.GetUID()))
	p.Env.Logf("stored the spec of %s: generation %d", c.Source, c.Stored.GetGeneration())
	return nil
}

// created gives the approval for a resource that did not exist its UID: before, it was that of a dry run.
func (a *Approval) created(uid string) {
	for _, of := range []*Identity{a.of, a.Named} {
		if of != nil {
			of.UID = uid
		}
	}
}
