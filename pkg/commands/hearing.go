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
	// agrees asks whether a plan may be carried out; no answer is an error. The answer is
	// typed, a name where data may be lost; empty is y.
	agrees func(ctx context.Context, v ui.PlanView, question, typed string) error
	// turn waits until no other pass of this process runs, and returns what ends ours. The
	// Lease keeps processes apart: to it, all passes of one are the same holder's.
	turn func(ctx context.Context) (end func(), err error)
}

// turn waits for the turn of a pass. A command has but one at a time.
func (e *Env) turn(ctx context.Context) (end func(), err error) {
	if e.hearing == nil {
		return func() {}, nil
	}
	return e.hearing.turn(ctx)
}

// agrees asks a person whether a plan may be carried out.
func (e *Env) agrees(ctx context.Context, v ui.PlanView, question string) error {
	if e.hearing != nil {
		return e.hearing.agrees(ctx, v, question, "")
	}
	return e.confirm(ctx, question)
}

// agreesByName asks a person who types the name of what may lose data.
func (e *Env) agreesByName(ctx context.Context, v ui.PlanView, noun, name string) error {
	if e.hearing != nil {
		return e.hearing.agrees(ctx, v, nameQuestion(noun), name)
	}
	return e.confirmName(ctx, noun, name)
}

// canBeAsked reports whether anybody is there to agree to more than before.
func (e *Env) canBeAsked() bool { return e.hearing != nil || e.IsTerminal(e.In) }
