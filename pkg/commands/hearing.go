package commands

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// hearing hears what passes say, where no terminal does.
type hearing struct {
	// event is told what happens in a pass.
	event func(reconcile.Event)
	// document is told what a run says besides: its rests, and how it ended.
	document func(any)
	// agrees asks whether a plan may be carried out; no answer is an error.
	agrees func(ctx context.Context, v ui.PlanView, question string) error
}

// agrees asks a person whether a plan may be carried out.
func (e *Env) agrees(ctx context.Context, v ui.PlanView, question string) error {
	if e.hearing != nil {
		return e.hearing.agrees(ctx, v, question)
	}
	return e.confirm(ctx, question)
}

// canBeAsked reports whether anybody is there to agree to more than before.
func (e *Env) canBeAsked() bool { return e.hearing != nil || e.IsTerminal(e.In) }
