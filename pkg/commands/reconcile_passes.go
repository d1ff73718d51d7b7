package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// passes are the passes of one change: one, or with --wait as many as required.
type passes struct {
	run
	change
	approved approval
	audit    *auditor

	count   int
	acted   int
	started time.Time // of the first pass
	last    reconcile.PassDone
	// trouble is what kept the last pass from running to its end.
	trouble    error
	kept       error // why the Lease or the lock was not released
	why        summary
	report     func(reconcile.Event)
	lastReason string // identifies what was last printed to wait
	// lossReported is true once a watch has printed that it never loses data.
	lossReported bool
	// paused is the last seen pause, so that it is printed once.
	paused string

	// targets are the subjects of the command with their progress; reached is true once all
	// reached their goal.
	targets []inspect.Target
	reached bool

	// added are the process groups that were created.
	added []v1beta2.ProcessGroupID

	// retries spaces retries while there is no answer; since is when that began, zero while
	// there are answers.
	retries pace.Pace
	since   time.Time
}

// all runs passes until one of them settles how the command ends.
func (p *passes) all(ctx context.Context) error {
	p.report = p.reporter()
	if p.env.planned != nil {
		if err := p.confirmPlan(ctx, p.env.planned); err != nil {
			return causeOf(ctx, err)
		}
	} else if !p.approved.everything && !p.approved.asked {
		if err := p.ask(ctx); err != nil {
			return causeOf(ctx, err)
		}
	}
	ctx, stop := withTimeout(ctx, p.env.Clock, p.timeout)
	defer stop()
	for {
		err := p.once(ctx)
		if err != nil && (ctx.Err() != nil || !p.retryable(err)) {
			return p.finish(ctx, err)
		}
		again, err := p.shouldContinue(ctx, err)
		if err != nil || !again {
			return p.finish(ctx, err)
		}
	}
}

// ask shows what a pass would do and prompts for confirmation. It is never called while the
// Lease or the lock is held.
func (p *passes) ask(ctx context.Context) error {
	view, err := p.show(ctx)
	if err != nil {
		return err
	}
	p.approved.about(p.seen)
	if len(view.Items) == 0 {
		return nil // nothing to approve; the pass reports what it waits for
	}
	if err := p.question(ctx, view); err != nil {
		return err
	}
	p.approved.add(view)
	return nil
}

// question prompts for the confirmation of what was shown.
func (p *passes) question(ctx context.Context, view planned.PlanView) error {
	if !p.losesData(view) {
		return p.env.agrees(ctx, view, "Apply these changes?")
	}
	if err := p.env.agreesByName(ctx, view, p.noun(), p.key.Name); err != nil {
		return err
	}
	p.approved.named = &p.seen
	return nil
}

// show shows what a pass would do. The error is why none could do anything.
func (p *passes) show(ctx context.Context) (planned.PlanView, error) {
	view, done, err := p.preview(ctx)
	if err != nil {
		return view, err
	}
	return view, p.showView(view, done)
}

func (p *passes) showView(view planned.PlanView, done reconcile.PassDone) error {
	if p.env.observer != nil { // the prompt shows the plan
		return refusalOf(view, done)
	}
	if err := ui.WritePlan(p.env.ErrOut, view, ui.PlanOptions{Paint: p.env.paint(p.env.ErrOut)}); err != nil {
		return err
	}
	return refusalOf(view, done)
}

// refusalOf returns why a pass could carry out nothing of its plan; nil if it could.
func refusalOf(v planned.PlanView, done reconcile.PassDone) error {
	if done.Outcome == reconcile.Failed || done.Stopped != nil {
		return &failure{code: passCode(done), err: failureOf(done), printed: true}
	}
	if refused := v.Refused(); len(refused) > 0 {
		err := &reconcile.RefusedError{Check: refused[0]}
		return &failure{code: refusalCode(err), err: err, printed: true}
	}
	return nil
}

// once runs one pass. The error is one that kept it from running to its end.
func (p *passes) once(ctx context.Context) error {
	if p.started.IsZero() {
		p.started = p.env.Clock.Now()
	}
	p.kept = nil
	end, err := p.env.turn(ctx)
	if err != nil {
		return err
	}
	defer end()
	beat := &heartbeat{env: p.env}
	defer beat.start()()
	pass := p.pass(all(p.report, p.why.report, beat.report, p.audit.report(ctx), p.printPause(), p.approved.carried, p.notes))
	pass.Observer, pass.Actor, pass.Permit = bound{p.observer(), &p.approved}, p.session, p.approved.permits
	done, err := pass.Run(ctx)
	if done.Acted > 0 {
		p.approved.passed()
	} else if done.Interrupted && len(done.Housekeeping) == 0 { // it may not have got there
		done.Housekeeping = p.last.Housekeeping
	}
	p.count, p.acted, p.last = p.count+1, p.acted+done.Acted, done
	p.env.acted += done.Acted
	if kept := new(*reconcile.KeptError); errors.As(err, kept) {
		p.kept = *kept
	}
	return err
}

func (p *passes) reporter() func(reconcile.Event) {
	if p.env.observer != nil {
		return p.env.observer.event
	}
	switch {
	case p.output == "json":
		return ui.JSON(p.env.Out)
	case !p.printsText():
		return func(reconcile.Event) {} // only the document at the end is printed
	}
	return ui.Text(p.env.Out, ui.TextOptions{Paint: p.env.paint(p.env.Out), Verbose: p.env.global.verbose > 0})
}

// shouldContinue decides whether to run another pass, and waits until it is due. The error is
// one of the last pass that is not retryable.
func (p *passes) shouldContinue(ctx context.Context, trouble error) (bool, error) {
	var beyond *reconcile.BeyondPlanError
	if errors.As(p.last.Stopped, &beyond) && p.env.planned == nil && p.env.canBeAsked() {
		p.env.logf("%s", beyond.Error())
		return true, p.ask(ctx)
	}
	if p.goal != nil && p.last.Stopped == nil && trouble == nil {
		if trouble = p.readProgress(ctx); trouble == nil && p.reached && p.isTidy() {
			return false, nil
		}
	}
	why := trouble
	if why == nil && passCode(p.last) == ExitUnreachable {
		why = failureOf(p.last)
	}
	switch {
	case why != nil && p.retryable(why):
		return p.backOff(ctx, why)
	case trouble != nil:
		return false, trouble
	case why == nil:
		p.since = time.Time{}
	}
	if !p.wait || !p.worthWaiting() {
		return false, nil
	}
	key, reason := p.waitsFor()
	if key != p.lastReason {
		p.waitFor(reason)
	}
	p.lastReason = key
	return true, p.env.pause(ctx, restAfter(p.last, p.interval), reason)
}

// readProgress reads how far the targets are.
func (p *passes) readProgress(ctx context.Context) error {
	all, reached, err := p.goal.progress(ctx, p.session)
	if err != nil {
		return fmt.Errorf("reading the progress: %w", err)
	}
	if !p.waitAll {
		all, reached = targets.Removed(all, reached, p.last.Housekeeping)
	}
	if p.printsText() && p.wait {
		p.env.printProgress(p.targets, all)
	}
	p.targets, p.reached = all, reached
	return nil
}

// printProgress prints the targets whose progress changed, or passes them to the observer.
func (e *Env) printProgress(before, now []inspect.Target) {
	if e.observer == nil {
		ui.WriteProgress(e.Out, before, now)
		return
	}
	for _, t := range now {
		if !slices.Contains(before, t) {
			e.observer.progress(t)
		}
	}
}

// waitsFor returns what the next pass may find changed, and what identifies that.
func (p *passes) waitsFor() (key, reason string) {
	if words := p.why.words(p.last); words != "" {
		return p.why.key(p.last), words
	}
	for _, t := range p.targets {
		if !t.Reached && (!p.last.Interrupted || p.last.Acted == 0) { // else they were read before the changes
			reason = fmt.Sprintf("%s is %s", t.ID, t.Phase)
			return reason, reason
		}
	}
	if len(p.last.Housekeeping) > 0 {
		return strings.Join(p.last.Housekeeping[0].Exclusions, ","), p.last.Housekeeping[0].Words()
	}
	reason = "the next pass reads what this one has changed"
	return reason, reason
}

// longestRest bounds the interval between two passes. What one stage waits for can take ten
// minutes, while another one could already continue: a waiting run receives no events. The
// operator requeues after 15 s for most causes.
const longestRest = 15 * time.Second

// restAfter returns the interval after a pass that waits, at least --interval.
func restAfter(done reconcile.PassDone, interval time.Duration) time.Duration {
	return max(min(retryAfter(done), longestRest), interval)
}

// waitFor prints what the command waits for; with text output that is already on stdout.
func (p *passes) waitFor(reason string) {
	if !p.printsText() {
		p.env.logf("waiting: %s", reason)
		return
	}
	p.env.touch()
}

// worthWaiting reports whether time can improve the end of the next pass, or whether the last
// one changed something that must be read again.
func (p *passes) worthWaiting() bool {
	switch passCode(p.last) {
	case ExitDone:
		return p.last.Outcome == reconcile.Changed || p.goal != nil || !p.isTidy()
	case ExitWaiting:
		return true
	case ExitPartly:
		return p.unfinished() != nil
	case ExitConflict:
		var beyond *reconcile.BeyondPlanError
		var refused *reconcile.RefusedError // on the deny list until a user removes it
		return !errors.As(p.last.Stopped, &beyond) && !errors.As(p.last.Stopped, &refused)
	default:
		return false
	}
}
