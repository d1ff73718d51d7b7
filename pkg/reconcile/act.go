package reconcile

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// act carries the decision out. Before the first action of a pass it takes the Lease, and before
// the first locked action of a stage the lock; after each of the two everything the stage reads
// is observed again and the stage decides again, so that no action relies on facts from before.
func (p *Pass) act(ctx context.Context, stage plan.Stage, d plan.Decision) (plan.Decision, error) {
	locked := false
	for next := 0; next < len(d.Actions); {
		if err := p.permitted(stage, d.Actions[next:]); err != nil {
			return d, err
		}
		gained, err := p.protect(ctx, stage, d.Actions[next], &locked)
		if err != nil {
			return d, err
		}
		if gained {
			if d, err = p.decideAgain(ctx, stage, d); err != nil {
				return d, err
			}
			next = 0
			continue
		}
		batch := together(d.Actions[next:])
		if err := p.carryOut(ctx, stage, batch); err != nil {
			return d, err
		}
		next += len(batch)
		if err := ctx.Err(); err != nil {
			return d, err
		}
	}
	return d, nil
}

// protect takes what the next action needs and this pass does not have yet: the Lease, or the
// lock. It reports whether it took one, so that facts must be observed again.
func (p *Pass) protect(ctx context.Context, stage plan.Stage, next plan.Action, locked *bool) (gained bool, err error) {
	if !p.begun {
		return true, p.begin(ctx, stage)
	}
	if *locked || !plan.EffectOf(next).Locked {
		return false, nil
	}
	if err := p.lock(ctx, stage); err != nil {
		return false, err
	}
	*locked = true
	return true, nil
}

// decideAgain lets the stage decide again. When that fails, the old decision is the result of
// the stage.
func (p *Pass) decideAgain(ctx context.Context, stage plan.Stage, old plan.Decision) (plan.Decision, error) {
	fresh, err := p.decide(ctx, stage)
	if err != nil {
		return old, err
	}
	return fresh, nil
}

func (p *Pass) permitted(stage plan.Stage, actions []plan.Action) error {
	if p.Permit == nil {
		return nil
	}
	for _, a := range actions {
		if !p.Permit(stage.Name, a) {
			return &BeyondPlanError{Stage: stage.Name, Action: a}
		}
	}
	return nil
}

// begin checks the gates and takes the Lease. What was observed before that may be
// another run's unfinished work, so all of it is stale.
func (p *Pass) begin(ctx context.Context, stage plan.Stage) error {
	if err := p.checkGates(ctx); err != nil {
		return err
	}
	if err := p.Actor.Begin(ctx); err != nil {
		return err
	}
	p.begun, p.fresh = true, 0
	p.Report(LeaseTaken{Stage: stage.Name})
	return nil
}

// beginEarly takes the Lease before the first stage, for a pass that continues another one. If that
// fails, the pass decides without it, and the first action tries again and reports why not: a pass
// that has nothing to do needs no Lease.
func (p *Pass) beginEarly(ctx context.Context) {
	if !p.Continues || p.Actor == nil || len(p.Stages) == 0 || ctx.Err() != nil {
		return
	}
	if p.Gates != nil {
		checks, err := p.Gates(ctx)
		if err != nil || slices.ContainsFunc(checks, func(c plan.Check) bool { return !c.OK }) {
			return
		}
		p.gated = true
		p.Report(GatesChecked{Checks: checks})
	}
	if err := p.Actor.Begin(ctx); err != nil {
		return
	}
	p.begun = true
	p.Report(LeaseTaken{Stage: p.Stages[0].Name, Early: true})
}

// checkGates evaluates the gates until all have passed.
func (p *Pass) checkGates(ctx context.Context) error {
	if p.Gates == nil || p.gated {
		return nil
	}
	checks, err := p.Gates(ctx)
	if err != nil {
		return &gatesError{err}
	}
	p.Report(GatesChecked{Checks: checks})
	for _, c := range checks {
		if !c.OK {
			return &RefusedError{Check: c}
		}
	}
	p.gated = true
	return nil
}

func (p *Pass) lock(ctx context.Context, stage plan.Stage) error {
	if err := p.Actor.Lock(ctx); err != nil {
		return err
	}
	p.fresh &^= stage.Facets(p.snap)
	p.Report(LockTaken{Stage: stage.Name})
	return nil
}

// parallelActions bounds how many actions run at once: enough to create hundreds
// of pods in seconds, few enough to be a polite client.
const parallelActions = 8

// together returns the leading actions that may run at the same time.
func together(actions []plan.Action) []plan.Action {
	n := 1
	for plan.EffectOf(actions[0]).Parallel && n < len(actions) && plan.KindOf(actions[n]) == plan.KindOf(actions[0]) {
		n++
	}
	return actions[:n]
}

// carryOut runs a batch. An action that has begun is finished even when the context ends: half
// an action is worse than a late one, and each is bounded. A long action that a later pass can
// continue ends with the context.
func (p *Pass) carryOut(ctx context.Context, stage plan.Stage, batch []plan.Action) error {
	errs := make([]error, len(batch))
	started := make([]bool, len(batch))
	var group errgroup.Group
	group.SetLimit(parallelActions)
	for i, a := range batch {
		if ctx.Err() != nil {
			break
		}
		started[i] = true
		p.Report(ActionStarted{Stage: stage.Name, Action: a})
		p.fresh &^= plan.EffectOf(a).Stale
		group.Go(func() error {
			errs[i] = Guarded(func() error { return p.Actor.Act(lasting(ctx, a), a) })
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs, each with its action
	for i, a := range batch {
		if !started[i] {
			continue
		}
		p.Report(ActionDone{Stage: stage.Name, Action: a, Err: errs[i]})
		switch {
		case errs[i] == nil:
			p.result.Acted++
		case plan.Records(a):
			errs[i] = &UnrecordedError{fmt.Errorf("%s: %w", a.Describe(), errs[i])}
		default:
			errs[i] = fmt.Errorf("%s: %w", a.Describe(), errs[i])
		}
	}
	return errors.Join(errs...)
}

// lasting is the context of an action.
func lasting(ctx context.Context, a plan.Action) context.Context {
	if plan.EffectOf(a).AtMost > 0 {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// FaultError means that a stage, the code of an action, or a background task panicked: a bug of this
// program. The stage has decided nothing then; the effect of an action is unknown, and the next
// observation shows it. Later stages continue.
type FaultError struct {
	// Value is what it panicked with.
	Value any
	// Stack are the functions that were running, the innermost first: "function (file:line)".
	Stack []string
}

func (e *FaultError) Error() string {
	return fmt.Sprintf("bug in kubectl-fdb, please report it: %v, in %s", e.Value, strings.Join(e.Stack, " ← "))
}

// Guarded runs do and turns a panic into a *FaultError. One that do panics with is returned as it is: it
// names where another goroutine panicked.
func Guarded(do func() error) (err error) {
	defer func() {
		switch value := recover().(type) {
		case nil:
		case *FaultError:
			err = value
		default:
			err = &FaultError{Value: value, Stack: stack()}
		}
	}()
	return do()
}

// stack names the functions below the panic, without those that only handle it.
func stack() []string {
	const most, handlers = 12, 3
	callers := make([]uintptr, most)
	frames := runtime.CallersFrames(callers[:runtime.Callers(handlers, callers)])
	var names []string
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !strings.HasPrefix(frame.Function, "runtime.") {
			names = append(names, fmt.Sprintf("%s (%s:%d)", path.Base(frame.Function), path.Base(frame.File), frame.Line))
		}
		if !more {
			return names
		}
	}
}

// ask lets a stage decide.
func ask(stage plan.Stage, s plan.Snapshot) (d plan.Decision, err error) {
	err = Guarded(func() error {
		d = stage.Decide(s)
		return nil
	})
	return d, err
}

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
