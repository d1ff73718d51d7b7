package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// stageStore is the stage of the audit in which the spec is stored; no pass has it.
const stageStore plan.StageName = "StoreSpec"

// storeProposals has the API server store the changes of specs that the passes carry out. It comes right before the first
// pass, and after another preview of each: where one would be refused, no spec is stored.
func (t *resourceSet) storeProposals(ctx context.Context) error {
	for _, p := range t.members {
		if err := p.checkProposal(ctx); err != nil {
			return err
		}
	}
	for i, p := range t.members {
		if err := p.storeProposal(ctx); err != nil {
			return t.partlyStored(i, err)
		}
	}
	return nil
}

// checkProposal refuses a change that cannot be stored, or that no pass could begin to carry out.
func (p *Passes) checkProposal(ctx context.Context) error {
	c := p.Proposal
	if c == nil {
		return nil
	}
	if err := Audited(p.Env); err != nil {
		return err
	}
	if err := c.Refresh(ctx); err != nil {
		return withDone(p.Env, err)
	}
	view, done, err := p.Preview(ctx)
	switch {
	case err != nil:
		return err
	case RefusalOf(view, done) != nil:
		return p.showView(view, done)
	case !c.IsChange():
		return nil
	case done.Outcome == reconcile.Blocked && onlyRecords(view):
		return withDone(p.Env, exitBlocked(p.subject(), c.Source, view))
	default: // a prompt can wait for hours
		return withDone(p.Env, c.MayStore())
	}
}

// storeProposal stores a change that was checked.
func (p *Passes) storeProposal(ctx context.Context) error {
	c := p.Proposal
	if c == nil {
		return nil
	}
	if !c.IsChange() {
		return c.Store(ctx)
	}
	began := p.Env.Clock.Now()
	err := c.Store(ctx)
	of := p.observed.snapshot
	planned.ResourceOf(of).SetUID(c.Stored.GetUID())
	p.audit.about(of)
	p.audit.step(ctx, stageStore, reconcile.Step{
		Kind: "StoreSpec", Subject: p.subject(), Words: "store the spec of " + c.Source,
	}, began, err)
	if c.IsStored() {
		p.Env.Run.Acted++
	}
	if err != nil {
		return err
	}
	p.Approved.created(string(c.Stored.GetUID()))
	p.Env.Logf("%s", p.amongOthers(fmt.Sprintf("stored the spec of %s: generation %d", c.Source, c.Stored.GetGeneration())))
	return nil
}

// partlyStored is the failure of a command whose changes are not all stored: none of the passes has run.
func (t *resourceSet) partlyStored(at int, err error) error {
	if t.env.Run.Acted == 0 || t.alone {
		return withDone(t.env, err)
	}
	stored, left := []string{}, []string{}
	for _, p := range t.members {
		switch {
		case !p.Proposal.IsChange():
		case p.Proposal.IsStored():
			stored = append(stored, p.subject())
		default:
			left = append(left, p.subject())
		}
	}
	words := fmt.Errorf("%w; %s %s stored, %s %s not, and no pass was run", err,
		phrase.List(stored), phrase.Is(len(stored)), phrase.List(left), phrase.Is(len(left)))
	partly := &exit.Error{Code: exit.Code(err), Err: words}
	if known, is := errors.AsType[*exit.Error](err); is {
		partly.Hints = slices.Clone(known.Hints)
	}
	partly.Hints = append(partly.Hints, t.members[at].again("store the rest, and carry out all"))
	return partly
}

// withDone adds to the failure of storing a change what the command has done before.
func withDone(e *session.Env, err error) error {
	if err == nil {
		return nil
	}
	with := &exit.Error{Code: exit.Code(err), Err: fmt.Errorf("%w (%s)", err, e.Prompt().DoneSoFar())}
	if known, is := errors.AsType[*exit.Error](err); is {
		with.Hints = known.Hints
	}
	return with
}

// mayStore refuses changes that one command cannot store and carry out, before anything is approved.
func mayStore(e *session.Env, all []Keyed) error {
	for _, c := range all {
		if first := all[0].Key; c.Key.Namespace != first.Namespace {
			return exit.Usagef("the manifests have resources in several namespaces (%s in %s, %s in %s): carry out those of one namespace at a time (nothing was changed)",
				all[0].subject(), first.Namespace, c.subject(), c.Key.Namespace)
		}
		if err := c.Proposal.MayStore(); err != nil {
			return withDone(e, err)
		}
	}
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
	return &exit.Error{Code: exit.ExitRefused, Err: fmt.Errorf("%s: no pass could do anything with the spec of %s: %s", subject, source, why)}
}

// created gives the approval for a resource that did not exist its UID: before, it was that of a dry run.
func (a *Approval) created(uid string) {
	for _, of := range []*Identity{a.of, a.Named} {
		if of != nil {
			of.UID = uid
		}
	}
}
