package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// Passes are the passes of one change: one, or with --wait as many as required. Each layer knows
// only those below it: what was done so far, what of it the user approved, when the next pass runs.
type Passes struct {
	pacing

	audit  *Auditor
	report func(reconcile.Event)
	// sites are the passes over all sites of the database, this one among them, in the order of their Leases; nil for one resource.
	sites []*Passes
	// lossReported is true once a watch has printed that it never loses data.
	lossReported bool
	// paused is the last seen pause, so that it is printed once.
	paused string
}

// newPasses returns the passes of a change, without a session.
func newPasses(r Run, c Change) *Passes {
	return &Passes{pacing: pacing{approving: approving{outcome: outcome{job: job{Run: r, Change: c, out: format.NewPasses(r.Env, c.Output)}}}}}
}

// job is what passes are for: a change of one resource.
type job struct {
	Run
	Change
	// out prints what the passes do.
	out *format.Passes
	// approved is the plan of --plan; nil without one.
	approved *planned.ApprovedPlan
	// shared is true for passes whose lines stand beside those over other resources.
	shared bool
}

// outcome is what the passes have done so far, and how the command ends with it.
type outcome struct {
	job

	// uid is the UID of the resource with which the run began; empty before it was read.
	uid string

	count   int
	acted   int
	started time.Time // of the first pass
	Last    reconcile.PassDone
	// err is what kept the last pass from running to its end, or the progress from being read.
	err  error
	kept error // why the Lease or the lock was not released
	why  session.Summary

	// targets are the subjects of the command with their progress; Reached is true once all
	// reached their goal.
	targets []inspect.Target
	Reached bool

	// added are the process groups that were created.
	added []v1beta2.ProcessGroupID
}

// approving shows what passes would do, and has it approved.
type approving struct {
	outcome
	Approved Approval
	// expectedAt is when everything is done by the approved forecast; nil without one.
	expectedAt *time.Time
}

// pacing decides whether another pass runs, and when.
type pacing struct {
	approving

	lastReason string    // identifies what was last printed to wait
	next       *nextPass // what follows the last pass; nil where nothing does
	lastRead   lastRead
	published  published

	// changes end the wait between two passes early; nil for passes that wait in another way.
	changes *changes

	// retries spaces retries while there is no answer; since is when that began, zero while
	// there are answers.
	retries pace.Pace
	since   time.Time
}

// All runs passes until one of them settles how the command ends.
func (p *Passes) All(ctx context.Context) error {
	defer func() { p.out.Progress.End() }() // of the progress that the passes begin
	return alone(p).all(ctx)
}

// approve has the passes approved, by a plan or by the user, unless flags approve them.
func (a *approving) approve(ctx context.Context) error {
	switch {
	case a.approved != nil:
		return a.confirmPlan(ctx, a.approved)
	case a.Approved.Everything, a.Approved.approved:
		return nil
	default:
		return a.ask(ctx)
	}
}

// ask shows what a pass would do and prompts for confirmation. It is never called while the
// Lease or the lock is held.
func (a *approving) ask(ctx context.Context) error {
	a.out.Progress.Hide()
	view, err := a.show(ctx)
	if err != nil {
		return err
	}
	a.Approved.About(a.Seen)
	if len(view.Items) == 0 && !a.stores() {
		return nil // nothing to approve; the pass reports what it waits for
	}
	if err := a.question(ctx, view); err != nil {
		return err
	}
	a.Approved.Add(view)
	if f := view.Forecast; f != nil && f.End == planned.ForecastComplete {
		a.expectedAt = inspect.Known(a.Env.Clock.Now().Add(time.Duration(f.Seconds * float64(time.Second))).Truncate(time.Second))
	}
	return nil
}

// stores reports whether the spec is not stored yet: that is a change, even if the next pass has nothing to do for it.
func (a *approving) stores() bool {
	return a.Proposal != nil && a.Proposal.IsChange() && !a.Proposal.IsStored()
}

// question prompts for the confirmation of what was shown.
func (a *approving) question(ctx context.Context, view planned.PlanView) error {
	if !a.LosesData(view) {
		return a.Env.Prompt().Agrees(ctx, view, a.questionAbout(view))
	}
	if err := a.Env.Prompt().AgreesByName(ctx, view, a.noun(), a.Key.Name); err != nil {
		return err
	}
	a.Approved.Named = &a.Seen
	return nil
}

// questionAbout returns the prompt for a plan: with a forecast it is about all passes, and about the spec alone where nothing but the
// status follows.
func (a *approving) questionAbout(v planned.PlanView) string {
	switch {
	case v.Foresees():
		return "Apply these changes, and later those of the forecast?"
	case a.stores() && v.Work() == 0:
		return "Store this spec?"
	}
	return "Apply these changes?"
}

// show shows what a pass would do. The error is why none could do anything.
func (a *approving) show(ctx context.Context) (planned.PlanView, error) {
	view, done, err := a.ToApprove(ctx)
	if err != nil {
		return view, err
	}
	return view, a.showView(view, done)
}

// ToApprove returns what a prompt is about: what a pass would do, with a forecast where later passes follow.
func (a *approving) ToApprove(ctx context.Context) (planned.PlanView, reconcile.PassDone, error) {
	view, done, err := a.Preview(ctx)
	switch {
	case err != nil:
	case a.Wait:
		err = a.foresee(ctx, &view, a.Printed())
	default: // no later pass follows
		a.weigh(ctx, &view)
	}
	return view, done, err
}

// showView shows a plan for a prompt. The error is why no pass could do anything.
func (a *approving) showView(view planned.PlanView, done reconcile.PassDone) error {
	if err := a.out.Proposed(view); err != nil {
		return err
	}
	return RefusalOf(view, done)
}

// RefusalOf returns why a pass could carry out nothing of its plan; nil if it could.
func RefusalOf(v planned.PlanView, done reconcile.PassDone) error {
	if done.Outcome == reconcile.Failed || done.Stopped != nil {
		return &exit.Error{Code: passCode(done), Err: failureOf(done), Printed: true}
	}
	if refused := v.Refused(); len(refused) > 0 {
		err := &reconcile.RefusedError{Check: refused[0]}
		return &exit.Error{Code: exit.RefusalCode(err), Err: err, Printed: true}
	}
	return nil
}

// once runs one pass. The error is one that kept it from running to its end.
func (p *Passes) once(ctx context.Context) error {
	if p.started.IsZero() {
		p.started = p.Env.Clock.Now()
	}
	p.kept = nil
	end, err := p.Env.Prompt().Turn(ctx)
	if err != nil {
		return err
	}
	defer end()
	beat := &session.Heartbeat{Env: p.Env}
	defer beat.Start()()
	pass := p.pass(all(p.changes.report, p.report, p.why.Report, beat.Report, p.audit.report(ctx), p.printPause(), p.Approved.Carried, p.notes))
	actor := reconcile.Actor(p.Session)
	if p.sites != nil {
		actor = inCommon{p.Session, p}
	}
	pass.Observer, pass.Actor, pass.Permit = bound{ofOne{p.observer(), &p.uid}, &p.Approved}, actor, p.Approved.Permits
	pass.Continues = p.Last.Acted > 0
	if !pass.Continues && (p.acted == 0 || !p.Wait) { // else the run has begun, and ends what it began
		pass.Actor = audited{actor, p.Env}
	}
	done, err := pass.Run(ctx)
	s, known := pass.Current(plan.Database)
	p.lastRead = lastRead{database: s.Database, known: known}
	p.changes.after(p.lastRead)
	p.observe(s)
	if done.Acted > 0 {
		p.Approved.Passed()
	} else if done.Interrupted && len(done.Housekeeping) == 0 { // it may not have got there
		done.Housekeeping = p.Last.Housekeeping
	}
	p.count, p.acted, p.Last = p.count+1, p.acted+done.Acted, done
	p.Env.Run.Acted += done.Acted
	if kept := new(*reconcile.KeptError); errors.As(err, kept) {
		p.kept = *kept
	}
	return err
}

// nextPass is when passes run the next one, and what they wait for.
type nextPass struct {
	after time.Duration
	// reason is empty while there is no answer.
	reason string
}

// settle returns what follows the last pass; nil where another one could not end better.
func (p *pacing) settle(ctx context.Context) *nextPass {
	problem := p.err
	if p.Goal != nil && p.Last.Stopped == nil && problem == nil {
		if problem = p.readProgress(ctx); problem == nil && p.Reached && p.isTidy() && !p.lostARace() {
			return nil
		}
	}
	why := problem
	if why == nil && passCode(p.Last) == exit.ExitUnreachable {
		why = failureOf(p.Last)
	}
	switch {
	case why != nil && p.retryable(why):
		return p.backOff(why)
	case problem != nil:
		p.err = problem
		return nil
	case why == nil:
		p.since = time.Time{}
	}
	if !p.Wait || !p.worthWaiting() {
		return nil
	}
	key, reason := p.waitsFor()
	if key != p.lastReason {
		p.waitFor(p.amongOthers(reason))
	}
	p.lastReason = key
	p.out.Progress.Operation(p.operationProgress(reason))
	p.out.Progress.Wait(reason)
	p.renewOperation(ctx, reason)
	return &nextPass{p.restAfter(), reason}
}

// readProgress reads how far the targets are.
func (p *pacing) readProgress(ctx context.Context) error {
	all, reached, err := p.Goal.Progress(ctx, readOnce{p.Session, ofOne{p.Session, &p.uid}, &p.lastRead, p.Env.Clock.Now()})
	if err != nil {
		return fmt.Errorf("read the progress: %w", err)
	}
	if !p.WaitAll {
		removed := false
		all, removed = targets.Removed(all, p.Last.Housekeeping)
		reached = reached || removed
	}
	if p.PrintsText() && p.Wait && !p.Env.Global.Quiet {
		p.out.Targets(p.targets, all)
	}
	p.targets, p.Reached = all, reached
	return nil
}

// waitsFor returns what the next pass may find changed, and what identifies that.
func (o *outcome) waitsFor() (key, reason string) {
	if words := o.why.Text(o.Last); words != "" {
		return o.why.Key(o.Last), words
	}
	for _, t := range o.targets {
		if !t.Reached && (!o.Last.Interrupted || o.Last.Acted == 0) { // else they were read before the changes
			reason = fmt.Sprintf("%s is %s", t.ID, t.Phase)
			return reason, reason
		}
	}
	if len(o.Last.Housekeeping) > 0 {
		return strings.Join(o.Last.Housekeeping[0].Exclusions, ","), o.Last.Housekeeping[0].Text()
	}
	switch {
	case o.Last.Acted > 0:
		reason = "the next pass reads what this one has changed"
	case o.Last.Interrupted:
		reason = "the pass was interrupted before it changed anything"
	default:
		reason = "the pass changed nothing; the next one reads again"
	}
	return reason, reason
}

// LongestRestVariable is the environment variable with a shorter bound of the interval between two passes. The
// end-to-end tests set it: the time of their databases passes faster than that between passes.
const LongestRestVariable = "KUBECTL_FDB_MAX_INTERVAL"

// longestRestOf returns the bound of the interval between two passes.
func longestRestOf(env *session.Env) (time.Duration, error) {
	text := env.Getenv(LongestRestVariable)
	if text == "" {
		return pace.LongestRest, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return pace.LongestRest, exit.Usagef("%s must be a positive duration, not %q", LongestRestVariable, text)
	}
	return min(d, pace.LongestRest), nil
}

// restAfter returns the interval after the last pass.
func (p *pacing) restAfter() time.Duration {
	longest, _ := longestRestOf(p.Env) // Check has refused what is none
	return RestAfter(p.Last, p.Interval, longest)
}

// RestAfter returns the interval after a pass that waits, at least --interval.
func RestAfter(done reconcile.PassDone, interval, longest time.Duration) time.Duration {
	return max(min(retryAfter(done), longest), interval)
}

// lostARace reports whether the command waits and others wrote an object that the last pass was about to write: the
// next pass reads it. Whether the goal is reached is no answer to that.
func (p *pacing) lostARace() bool { return p.Wait && passCode(p.Last) == exit.ExitConflict }

// waitFor prints what the command waits for; with text output that is already on stdout.
func (p *pacing) waitFor(reason string) {
	if !p.PrintsText() {
		p.Env.Logf("waiting: %s", reason)
		return
	}
	p.Env.Touch()
}

// worthWaiting reports whether time can improve the end of the next pass, or whether the last
// one changed something that must be read again.
func (p *pacing) worthWaiting() bool {
	switch passCode(p.Last) {
	case exit.ExitDone:
		return p.Last.Outcome == reconcile.Changed || p.Goal != nil || !p.isTidy()
	case exit.ExitWaiting:
		return true
	case exit.ExitPartly:
		return p.unfinished() != nil
	case exit.ExitConflict:
		var beyond *reconcile.BeyondPlanError
		var refused *reconcile.RefusedError // on the deny list until a user removes it
		return !errors.As(p.Last.Stopped, &beyond) && !errors.As(p.Last.Stopped, &refused)
	default:
		return false
	}
}
