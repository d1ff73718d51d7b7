package session

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// RunObserver receives the events of passes and answers their prompts, instead of the terminal.
type RunObserver struct {
	// Event receives the events of a pass.
	Event func(reconcile.Event)
	// Document receives the other documents of a run: its intervals, and how it ended.
	Document func(any)
	// Progress receives each target whose progress changed.
	Progress func(inspect.Target)
	// Agrees prompts for the approval of a plan; no answer is an error. The typed text is a
	// name if data may be lost; empty means yes or no.
	Agrees func(ctx context.Context, v planned.PlanView, question, typed string) error
	// Turn waits until no other pass of this process runs, and returns a function that ends the
	// turn. The Lease does not separate passes of one process: they have the same holder.
	Turn func(ctx context.Context) (end func(), err error)
}

// Turn waits for the turn of a pass. A command runs one pass at a time.
func (e Prompt) Turn(ctx context.Context) (end func(), err error) {
	if e.Observer == nil {
		return func() {}, nil
	}
	return e.Observer.Turn(ctx)
}

// Agrees prompts the user to approve a plan.
func (e Prompt) Agrees(ctx context.Context, v planned.PlanView, question string) error {
	if e.Observer != nil {
		return e.Observer.Agrees(ctx, v, question, "")
	}
	return e.Confirm(ctx, question)
}

// AgreesByName prompts the user to approve a loss of data by typing the name.
func (e Prompt) AgreesByName(ctx context.Context, v planned.PlanView, noun, name string) error {
	if e.Observer != nil {
		return e.Observer.Agrees(ctx, v, nameQuestion(noun), name)
	}
	return e.ConfirmName(ctx, noun, name)
}

// Interactive reports whether a prompt can be answered.
func (e Prompt) Interactive() bool { return e.Observer != nil || e.IsTerminal(e.In) }
