package commands

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// runObserver receives the events of passes and answers their prompts, instead of the terminal.
type runObserver struct {
	// event receives the events of a pass.
	event func(reconcile.Event)
	// document receives the other documents of a run: its intervals, and how it ended.
	document func(any)
	// progress receives each target whose progress changed.
	progress func(inspect.Target)
	// agrees prompts for the approval of a plan; no answer is an error. The typed text is a
	// name if data may be lost; empty means yes or no.
	agrees func(ctx context.Context, v planned.PlanView, question, typed string) error
	// turn waits until no other pass of this process runs, and returns a function that ends the
	// turn. The Lease does not separate passes of one process: they have the same holder.
	turn func(ctx context.Context) (end func(), err error)
}

// turn waits for the turn of a pass. A command runs one pass at a time.
func (e *Env) turn(ctx context.Context) (end func(), err error) {
	if e.observer == nil {
		return func() {}, nil
	}
	return e.observer.turn(ctx)
}

// agrees prompts the user to approve a plan.
func (e *Env) agrees(ctx context.Context, v planned.PlanView, question string) error {
	if e.observer != nil {
		return e.observer.agrees(ctx, v, question, "")
	}
	return e.confirm(ctx, question)
}

// agreesByName prompts the user to approve a loss of data by typing the name.
func (e *Env) agreesByName(ctx context.Context, v planned.PlanView, noun, name string) error {
	if e.observer != nil {
		return e.observer.agrees(ctx, v, nameQuestion(noun), name)
	}
	return e.confirmName(ctx, noun, name)
}

// canBeAsked reports whether a prompt can be answered.
func (e *Env) canBeAsked() bool { return e.observer != nil || e.IsTerminal(e.In) }
