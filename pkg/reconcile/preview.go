package reconcile

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// predict replaces act in a preview: edits are applied to the snapshot, since their effect is
// known; the effect of other actions is not.
func (p *Pass) predict(ctx context.Context, stage plan.Stage, d plan.Decision) {
	p.result.Planned += len(d.Actions)
	if len(d.Actions) > 0 {
		p.previewGates(ctx)
	}
	var unknown plan.Facet
	for _, a := range d.Actions {
		if edit, ok := a.(plan.Edit); ok {
			p.snap = edit.Apply(p.snap)
		} else {
			unknown |= plan.EffectOf(a).Stale
		}
	}
	if unknown != 0 {
		p.touched = append(p.touched, touch{stage.Name, unknown})
	}
}

// previewGates evaluates the gates of a real run. A refusal does not end a preview: the planned
// actions are still worth knowing.
func (p *Pass) previewGates(ctx context.Context) {
	defer func() { p.gated = true }() // shown once is enough
	if err := p.checkGates(ctx); err != nil {
		p.result.Failures = append(p.result.Failures, err)
		p.result.Outcome = max(p.result.Outcome, Blocked)
	}
}

// provisional names the stages whose results this stage would read in a real run.
func (p *Pass) provisional(stage plan.Stage) []plan.StageName {
	var names []plan.StageName
	for _, t := range p.touched {
		if t.facets&stage.Facets(p.snap) != 0 {
			names = append(names, t.stage)
		}
	}
	return names
}
