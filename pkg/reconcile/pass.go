// Package reconcile runs the stages of a reconcile pass in order: observe what a stage reads,
// let it decide, carry the decision out, report everything. It imports neither Kubernetes nor
// FoundationDB clients, and it never acts on facts older than the lock.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Observer refreshes facets of a snapshot. It must not change anything.
type Observer interface {
	// Observe reads the facets and stores them in into. It returns an
	// *UnreachableError when the API server is not reachable.
	Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error
}

// Actor changes the cluster state.
type Actor interface {
	// Begin takes the Lease, once, before a pass's first action. It returns a
	// *HeldError when another run holds it; it does not wait.
	Begin(ctx context.Context) error
	// Lock takes or extends the lock that control-plane instances share through the database,
	// where the spec uses locks. It returns a *HeldError when another one holds it and a
	// *RefusedError when this one may not take it; it does not wait.
	Lock(ctx context.Context) error
	// Act carries one action out and proves that it had its effect.
	Act(ctx context.Context, a plan.Action) error
	// End releases what Begin and Lock took.
	End(ctx context.Context) error
}

// Pass is one run over the stages.
type Pass struct {
	Stages   []plan.Stage
	Observer Observer
	// Actor is nil in a preview: decide everything, change nothing.
	Actor Actor
	// Gates are evaluated once, before the first action runs or is previewed; any that is
	// refused blocks the pass. Nil means none.
	Gates func(context.Context) ([]plan.Check, error)
	// Known are refusals that facts show before anything is done: a permission that the pass
	// needs in the end and does not have. They are evaluated once, before the first action that
	// changes more than the status, and before the first wait, so that no pass ends half done,
	// or waits in vain. Nil means none. KnownReads are the facets that it reads besides the
	// cluster, which determines them.
	Known      func(plan.Snapshot) []plan.Check
	KnownReads func(plan.Snapshot) plan.Facet
	// Permit reports whether an action was approved. Nil permits every action.
	Permit func(stage plan.StageName, a plan.Action) bool
	// Report receives every event.
	Report func(Event)
	// Continues is true for a pass that goes on with what another one of this run has changed, and
	// probably acts as well. It takes the Lease before it observes, so that the first action needs
	// no second observation: of a database that is not configured yet one takes 15 s.
	Continues bool
	// Seed makes the pass's random choices; see NextSeed.
	Seed uint64
	// Hashes remember the hashes of pod specs between passes. Nil remembers them for this pass only.
	Hashes *plan.HashMemo

	snap              plan.Snapshot
	fresh             plan.Facet
	begun             bool // this run holds the Lease
	gated             bool // all gates passed, or a preview has reported them
	refusalsEvaluated bool // the known refusals were evaluated

	result  PassDone
	aside   bool    // a stage is blocked for some process groups alone
	goesOn  bool    // a stage waits for what time brings, and not only for others
	touched []touch // previews only: what actions that did not run would have changed
}

type touch struct {
	stage  plan.StageName
	facets plan.Facet
}

// maxRounds bounds how often one pass starts over, so that two stages that undo
// each other's work end in a report instead of a loop.
const maxRounds = 5

// Run runs the pass. What a stage refuses or fails to do is in the events and in
// the outcome; the error is one that kept the pass from running to its end:
// the context's, or a *KeptError.
func (p *Pass) Run(ctx context.Context) (PassDone, error) {
	p.snap.Seed, p.snap.Hashes = p.Seed, p.Hashes
	if p.Hashes == nil {
		p.snap.Hashes = plan.NewHashMemo()
	}
	p.beginEarly(ctx)
	err := p.rounds(ctx)
	p.weighAside()
	p.result.Interrupted = ctx.Err() != nil
	if p.begun {
		// The Lease and the lock are released on Ctrl-C too.
		err = errors.Join(err, p.release(context.WithoutCancel(ctx)))
	}
	p.Report(p.result)
	return p.result, err
}

// Current returns what the pass observed, and whether nothing that it did since then has changed
// the facets.
func (p *Pass) Current(facets plan.Facet) (s plan.Snapshot, unchanged bool) {
	return p.snap, p.fresh&facets == facets
}

func (p *Pass) release(ctx context.Context) error {
	if err := p.Actor.End(ctx); err != nil {
		return &KeptError{err}
	}
	return nil
}

func (p *Pass) rounds(ctx context.Context) error {
	for round := range maxRounds {
		p.Report(PassStarted{Preview: p.Actor == nil, Round: round + 1, Stages: p.names()})
		then, err := p.round(ctx)
		if err != nil || then != plan.StartOver {
			return err
		}
		p.result.Outcome, p.result.RetryAfter, p.result.Housekeeping, p.fresh = Changed, 0, nil, 0
		p.aside, p.goesOn = false, false
	}
	p.result.Outcome = Blocked
	p.result.Failures = append(p.result.Failures, fmt.Errorf("started over %s without a result: two stages undo each other's work, or the spec contradicts itself", phrase.Count(maxRounds, "time")))
	return nil
}

func (p *Pass) names() []plan.StageName {
	names := make([]plan.StageName, len(p.Stages))
	for i, s := range p.Stages {
		names[i] = s.Name
	}
	return names
}

func (p *Pass) round(ctx context.Context) (plan.Then, error) {
	for _, stage := range p.Stages {
		if err := ctx.Err(); err != nil {
			return plan.EndPass, err
		}
		then, err := p.runStage(ctx, stage)
		if next := p.after(then); err != nil || next != plan.CarryOn {
			return next, err
		}
	}
	return plan.CarryOn, nil
}

// after is how the round continues: what stopped the pass ends it, and a preview never
// starts over, since nothing was done.
func (p *Pass) after(then plan.Then) plan.Then {
	switch {
	case p.result.Stopped != nil:
		return plan.EndPass
	case then == plan.StartOver && p.Actor == nil:
		return plan.CarryOn
	default:
		return then
	}
}

// runStage runs one stage. A stage that fails does not end the pass: whatever
// comes later decides on facts of its own and has its own checks. The error is
// the context's.
func (p *Pass) runStage(ctx context.Context, stage plan.Stage) (plan.Then, error) {
	d, err := p.decide(ctx, stage)
	if err == nil {
		err = p.askKnown(ctx, stage, d)
	}
	if err == nil {
		if p.Actor == nil {
			p.predict(ctx, stage, d)
		} else {
			d, err = p.act(ctx, stage, d)
		}
	}
	if ctx.Err() != nil {
		if err != nil && !errors.Is(err, ctx.Err()) { // this error explains more than the context's
			p.result.Failures = append(p.result.Failures, fmt.Errorf("%s: %w", stage.Name, err))
		}
		p.done(StageDone{Stage: stage.Name, Outcome: Waiting, Nature: plan.Ordinary, Reason: "interrupted", Interrupted: true})
		return plan.EndPass, ctx.Err()
	}
	if err != nil {
		p.fail(stage, err)
		return plan.CarryOn, nil
	}
	return p.conclude(stage, d), nil
}

// fail classifies an error: another run is active, a refusal, or a failure.
func (p *Pass) fail(stage plan.Stage, err error) {
	var (
		held        *HeldError
		refused     *RefusedError
		beyond      *BeyondPlanError
		notYet      *NotYetError
		unreachable *UnreachableError
		unrecorded  *UnrecordedError
		unchecked   *gatesError
		invalid     *InvalidSpecError
	)
	isUnrecorded := errors.As(err, &unrecorded)
	switch rejected := refusalsIn(err); {
	case len(rejected) > 0 && !isUnrecorded: // later stages may still do what needs none of these objects
		d := plan.Decision{Hold: plan.RefusedHold(rejected)}
		p.Report(StageDecided{Stage: stage.Name, Decision: d})
		p.conclude(stage, d)
	case errors.As(err, &held):
		p.ended(stage, Waiting, err)
		p.result.Failures = append(p.result.Failures, held)
		if !p.begun {
			p.result.Stopped = held
		}
	case errors.As(err, &refused):
		p.ended(stage, Blocked, err)
		p.result.Failures = append(p.result.Failures, refused)
		if !p.begun {
			p.result.Stopped = refused
		}
	case errors.As(err, &beyond):
		p.ended(stage, Blocked, err)
		p.result.Stopped = beyond
	case errors.As(err, &notYet) && notYet.Hold != nil && !isUnrecorded:
		d := plan.Decision{Hold: notYet.Hold}
		p.Report(StageDecided{Stage: stage.Name, Decision: d})
		p.conclude(stage, d)
	case errors.As(err, &notYet) && !isUnrecorded:
		p.ended(stage, Waiting, err)
		p.result.RetryAfter = max(p.result.RetryAfter, notYetRetry)
	default:
		p.result.Failures = append(p.result.Failures, fmt.Errorf("%s: %w", stage.Name, err))
		if errors.As(err, &unreachable) {
			p.result.Stopped = unreachable
		} else if isUnrecorded {
			p.result.Stopped = unrecorded
		} else if errors.As(err, &invalid) {
			p.result.Stopped = invalid
		} else if errors.As(err, &unchecked) {
			p.result.Stopped = unchecked
		}
		p.ended(stage, Failed, err)
	}
}

// notYetRetry is when to retry what was refused for now.
const notYetRetry = 10 * time.Second

// conclude records the outcome of a decision that was carried out.
func (p *Pass) conclude(stage plan.Stage, d plan.Decision) plan.Then {
	if d.Housekeeping != nil {
		p.result.Housekeeping = append(p.result.Housekeeping, *d.Housekeeping)
	}
	switch {
	case d.Hold != nil && d.Hold.Manual:
		p.aside = p.aside || d.Hold.Aside
		p.held(stage, Blocked, d)
	case d.Hold != nil:
		p.goesOn = p.goesOn || !d.Hold.Follows
		p.result.RetryAfter = max(p.result.RetryAfter, d.Hold.RetryAfter)
		p.held(stage, Waiting, d)
	case len(d.Actions) > 0:
		p.done(StageDone{Stage: stage.Name, Outcome: Changed})
	default:
		p.done(StageDone{Stage: stage.Name, Outcome: Done})
	}
	if d.Hold == nil {
		return plan.CarryOn
	}
	return d.Hold.Then
}

// decide refreshes what the stage reads and lets the stage decide.
func (p *Pass) decide(ctx context.Context, stage plan.Stage) (plan.Decision, error) {
	if err := p.refresh(ctx, stage, stage.Reads); err != nil {
		return plan.Decision{}, err
	}
	if err := p.refresh(ctx, stage, stage.Facets(p.snap)); err != nil {
		return plan.Decision{}, err
	}
	d, err := ask(stage, p.snap)
	if err != nil {
		return plan.Decision{}, err
	}
	p.Report(StageDecided{Stage: stage.Name, Decision: d, Provisional: p.provisional(stage)})
	return d, nil
}

// refresh observes those of the facets that are not up to date.
func (p *Pass) refresh(ctx context.Context, stage plan.Stage, facets plan.Facet) error {
	stale := facets &^ p.fresh
	if stale == 0 {
		return nil
	}
	p.Report(Observing{Stage: stage.Name, Facets: stale})
	if err := p.Observer.Observe(ctx, &p.snap, stale); err != nil {
		return err
	}
	if plan.NeedsSpec(p.Stages) {
		if err := plan.InvalidSpecError(p.snap.InvalidSpec); err != nil {
			return &InvalidSpecError{Err: err}
		}
	}
	p.fresh |= stale
	p.Report(Observed{Facets: stale, Snapshot: p.snap})
	return nil
}

// held closes a stage that has more to do than its actions cover.
func (p *Pass) held(stage plan.Stage, o Outcome, d plan.Decision) {
	p.done(StageDone{Stage: stage.Name, Outcome: o, Nature: d.Nature(), Left: d.Left(), Reason: d.Hold.Text(), Follows: d.Hold.Follows, Aside: d.Hold.Aside})
}

// ended closes a stage that an error ended.
func (p *Pass) ended(stage plan.Stage, o Outcome, err error) {
	p.goesOn = p.goesOn || o == Waiting
	p.done(StageDone{Stage: stage.Name, Outcome: o, Nature: NatureOf(err), Reason: err.Error(), Err: err})
}

func (p *Pass) done(e StageDone) {
	if !e.Aside {
		p.result.Outcome = max(p.result.Outcome, e.Outcome)
	}
	p.Report(e)
}

// weighAside adds to the outcome what is blocked for some process groups alone. As long as anything
// else goes on, the next pass has work without manual intervention.
func (p *Pass) weighAside() {
	switch {
	case !p.aside:
	case p.goesOn, p.result.Acted > 0, p.result.Planned > 0:
		p.result.Outcome = max(p.result.Outcome, Waiting)
	default:
		p.result.Outcome = max(p.result.Outcome, Blocked)
	}
}
