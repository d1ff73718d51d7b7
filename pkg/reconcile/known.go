package reconcile

import (
	"context"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// askKnown evaluates refusals that facts show already, at the first decision that changes more
// than the status or waits. A preview reports them and continues.
func (p *Pass) askKnown(ctx context.Context, stage plan.Stage, d plan.Decision) error {
	if p.Known == nil || p.refusalsEvaluated || !wantsMore(d) {
		return nil
	}
	if err := p.refresh(ctx, stage, plan.ClusterResource); err != nil {
		return err
	}
	if err := p.refresh(ctx, stage, p.KnownReads(p.snap)); err != nil {
		return err
	}
	p.refusalsEvaluated = true
	checks := p.Known(p.snap)
	if len(checks) == 0 {
		return nil
	}
	p.Report(GatesChecked{Checks: checks})
	for _, c := range checks {
		if !c.OK {
			return p.refuse(&RefusedError{Check: c})
		}
	}
	return nil
}

// wantsMore reports whether a decision does more than update the status.
func wantsMore(d plan.Decision) bool {
	return d.Hold != nil || slices.ContainsFunc(d.Actions, func(a plan.Action) bool { return !plan.RecordsKind(plan.KindOf(a)) })
}

// refuse ends a pass with a refusal. A preview has reported it, and continues: the planned
// actions are still worth knowing.
func (p *Pass) refuse(refused *RefusedError) error {
	if p.Actor != nil {
		p.result.Stopped = refused // also where the status was written already
		return refused
	}
	p.result.Failures = append(p.result.Failures, refused)
	p.result.Outcome = max(p.result.Outcome, Blocked)
	return nil
}
