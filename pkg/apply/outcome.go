package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// finish prints the summary, and turns the end of the last pass, or its interruption, into the
// end of the command.
func (o *outcome) finish(ctx context.Context, err error) error {
	end := o.end(ctx, err)
	if o.Env.Observer != nil {
		o.Env.Observer.Document(o.document(end))
	}
	if !o.PrintsText() {
		return errors.Join(o.out.Result(o.document(end), o.names()), end)
	}
	o.out.Line("%s", o.sentence(end))
	o.noteHousekeeping()
	if end == nil && o.acted > 0 && len(o.Undo) > 0 {
		o.Env.Logf("undo: %s", o.Env.Command(o.Undo...))
	}
	return end
}

func (o *outcome) end(ctx context.Context, err error) error {
	var known *exit.Error
	cause := exit.CauseOf(ctx, err)
	interrupted := new(*exit.InterruptedError)
	switch {
	case err == nil:
		return o.Verdict()
	case errors.As(err, &known):
		return err
	case errors.As(cause, interrupted) && (*interrupted).Code != exit.ExitDone:
		return aborted(o, *interrupted)
	case errors.As(cause, interrupted):
		return &exit.Error{Code: exit.InterruptCode(*interrupted), Err: o.withKept(cause), Hints: []string{o.again("resume")}, Printed: true}
	case errors.Is(cause, exit.ErrTimeout):
		return &exit.Error{Code: exit.ExitWaiting, Err: o.withKept(o.timedOut()), Hints: []string{o.again("resume")}, Printed: true}
	default:
		return fmt.Errorf("reconcile %s: %w", o.title(), err)
	}
}

// withKept adds an interrupted action, and what could not be released, to the cause of the
// interruption.
func (o *outcome) withKept(cause error) error {
	if cut := o.unfinished(); cut != nil {
		cause = fmt.Errorf("%w; %s", cause, exit.Explain(cut))
	}
	if o.kept != nil {
		cause = fmt.Errorf("%w; %s", cause, exit.Explain(o.kept))
	}
	return cause
}

// unfinished returns the action that the last pass began and could not finish; nil for none.
func (o *outcome) unfinished() error {
	for _, err := range o.Last.Failures {
		if admin.KindOf(err) == admin.KindUnfinished {
			return err
		}
	}
	return nil
}

// timedOut returns what the command was waiting for when --timeout ended.
func (o *outcome) timedOut() error {
	if _, words := o.waitsFor(); words != "" {
		return fmt.Errorf("%w after %s: %s", exit.ErrTimeout, o.Timeout, words)
	}
	return fmt.Errorf("%w after %s", exit.ErrTimeout, o.Timeout)
}

// Verdict returns the end of the last pass. A reached goal outweighs what a pass still waits
// for, but no failure or refusal: the status may predate the failed action.
func (o *outcome) Verdict() error {
	code := passCode(o.Last)
	if goal, answers := o.Goal.(Answering); answers && (code == exit.ExitDone || code == exit.ExitWaiting) {
		return goal.Answer()
	}
	if code == exit.ExitDone || code == exit.ExitWaiting && o.Reached {
		return nil
	}
	if wantsLoss(o.Last) && o.approved == nil {
		return o.unnamed()
	}
	f := &exit.Error{Code: code, Err: errors.New(o.why.Text(o.Last)), Printed: true}
	switch code {
	case exit.ExitWaiting:
		f.Hints = []string{o.again("wait until done", "--wait")}
	case exit.ExitPartly:
		why := "later"
		if o.unfinished() != nil {
			why = "resume"
		}
		f.Hints = []string{o.again(why)}
	case exit.ExitConflict:
		f.Hints = []string{o.again("later")}
	case exit.ExitUnreachable:
		if o.Across != nil {
			f.Hints = []string{o.again("resume once the API server answers")}
		}
	}
	if o.beyondPlan() || (o.approved != nil && code == exit.ExitWaiting) {
		f.Hints = []string{o.planAgain("create a plan for the rest")}
	}
	return f
}

// again returns the hint to run the same command again, with all flags that were typed.
func (j *job) again(why string, extra ...string) string {
	flags := j.Shared()
	for _, flag := range extra {
		if !slices.Contains(flags, flag) {
			flags = append([]string{flag}, flags...)
		}
	}
	for _, flag := range session.ResumedFlags(j.Env) {
		if !hasFlag(flags, flag.Name) && !hasFlag(j.Args, flag.Name) {
			flags = append(flags, flag.Words...)
		}
	}
	return why + ": " + j.line(slices.Concat(j.words(), flags)...)
}

// hasFlag reports whether a command line has a flag.
func hasFlag(words []string, name string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return word == name || strings.HasPrefix(word, name+"=") })
}

// line returns a command line of the whole command.
func (j *job) line(words ...string) string {
	if j.Across != nil {
		return session.CommandAcross(j.Across.Env, words...)
	}
	return j.Env.Command(words...)
}

// words are the command and its arguments: one that carries out several changes which were not stored names no resource.
func (j *job) words() []string {
	if j.Across != nil {
		return j.Across.Args
	}
	if j.Proposal == nil || !j.shared {
		return j.Args
	}
	return slices.Delete(slices.Clone(j.Args), 1, 2)
}

// document prints the last line of the JSON.
func (o *outcome) document(end error) any {
	if o.Goal == nil {
		return o.result(end)
	}
	r := inspect.ChangeResult{ReconcileResult: o.result(end), Command: o.Args[0], Reached: o.Reached, Targets: append([]inspect.Target{}, o.targets...)}
	r.Kind = "ChangeResult"
	return r
}

// names returns what -o name prints: the new groups of a replacement, else the subjects of the
// command.
func (o *outcome) names() []string {
	kind, ofTargets := kindOfTargets[o.Args[0]]
	switch {
	case o.Args[0] == "replace":
		return session.NamesOf("processgroup", o.added, func(id v1beta2.ProcessGroupID) string { return string(id) })
	case ofTargets:
		return session.NamesOf(kind, o.targets, func(t inspect.Target) string { return t.ID })
	case o.Run.ResourceKind != nil:
		return []string{o.subject()}
	default:
		return []string{"foundationdbcluster/" + o.Key.Name}
	}
}

// kindOfTargets is the kind of the subjects of commands.
var kindOfTargets = map[string]string{
	"restart": "processgroup", "exclude": "processgroup", "include": "processgroup",
	"detect-failures": "processgroup", "cordon": "node", "uncordon": "node", "drain": "node",
}

// notes records the added process groups, and what the goal and the next pass depend on.
func (o *outcome) notes(e reconcile.Event) {
	o.Seed = reconcile.NextSeed(o.Seed, e)
	if goal, notes := o.Goal.(Noting); notes {
		goal.Note(e)
	}
	done, ok := e.(reconcile.ActionDone)
	if !ok || done.Err != nil {
		return
	}
	if add, is := done.Action.(plan.AddGroups); is {
		for _, g := range add.Groups {
			o.added = append(o.added, g.ID)
		}
	}
}

func (o *outcome) result(end error) inspect.ReconcileResult {
	r := inspect.ReconcileResult{
		Document: inspect.NewDocument("ReconcileResult", o.Env.Metadata(o.Run.ResourceKind.Named(o.Key)), o.Env.Clock.Now(), inspect.SourceLive),
		Outcome:  o.Last.Outcome, Passes: o.count, Acted: o.acted, ExitCode: exit.Code(end), Last: inspect.RecordPass(o.Last),
	}
	if o.isAnswer(end) {
		r.Reason = o.Goal.Summary(o.extent())
	} else if end != nil {
		r.Reason = exit.Explain(end)
	}
	return r
}

// sentence returns the last line of the text: what was reached and what is left.
func (o *outcome) sentence(end error) string {
	did := o.did()
	switch {
	case (end == nil || o.isAnswer(end)) && o.Goal != nil:
		sentence := o.title() + ": " + o.Goal.Summary(o.extent())
		if o.count > 1 {
			sentence += " (" + did + ")"
		}
		return sentence
	case end == nil && o.Partial && o.acted == 0:
		return o.title() + ": nothing to do in the selected stages; the others were not run"
	case end == nil && o.Partial:
		return fmt.Sprintf("%s: the selected stages are done (%s); the others were not run", o.title(), did)
	case end == nil && o.acted == 0:
		return o.title() + ": already reconciled, no changes"
	case end == nil:
		return fmt.Sprintf("%s: reconciled (%s)", o.title(), did)
	}
	return fmt.Sprintf("%s: %s after %s: %s", o.title(), o.endWord(end), did, exit.Explain(end))
}

func (o *outcome) extent() Extent {
	if o.Reached {
		return Reached
	}
	return Begun
}

// isAnswer reports whether the command ends with the answer of its goal.
func (o *outcome) isAnswer(end error) bool {
	_, answers := errors.AsType[exit.AnswerError](end)
	return answers && o.Goal != nil
}

// did returns the number of actions and, of several passes, their number and duration.
func (o *outcome) did() string {
	actions := phrase.Count(o.acted, "action")
	if o.count <= 1 {
		return actions
	}
	return fmt.Sprintf("%s in %s, %s", actions, phrase.Count(o.count, "pass"), o.Env.Clock.Since(o.started).Round(time.Second))
}

func (o *outcome) endWord(end error) string {
	interrupted := new(*exit.InterruptedError)
	if errors.As(end, interrupted) && (*interrupted).Code != exit.ExitDone && o.kept == nil {
		return "stopped, all locks released,"
	}
	switch exit.Code(end) {
	case exit.ExitHungUp, exit.ExitInterrupted, exit.ExitTerminated:
		if o.kept != nil {
			return "interrupted"
		}
		return "interrupted, all locks released,"
	case exit.ExitConflict:
		return "stopped"
	case exit.ExitWaiting: // also after a pass without work, while a target is not reached
		return reconcile.Waiting.String()
	default:
		return o.Last.Outcome.String()
	}
}

// failureOf joins the errors of a pass.
func failureOf(done reconcile.PassDone) error {
	if done.Stopped != nil {
		return done.Stopped
	}
	return errors.Join(done.Failures...)
}

// isTidy reports whether housekeeping allows the command to end. With --wait=all that takes a
// pass that neither did nor left any.
func (o *outcome) isTidy() bool { return !o.WaitAll || o.Last.Settled() }

// retryAfter returns how long the pass should wait at least; if only housekeeping is left, the
// time that takes.
func retryAfter(done reconcile.PassDone) time.Duration {
	if done.Outcome == reconcile.Done {
		return max(done.RetryAfter, done.TidyAfter())
	}
	return done.RetryAfter
}

// noteHousekeeping prints the housekeeping that the last pass left for later.
func (o *outcome) noteHousekeeping() {
	for _, h := range o.Last.Housekeeping {
		o.out.Line("%s: deferred to a later pass: %s", o.title(), h.Text())
	}
}

// passCode returns the exit code of a pass that ran to its end.
func passCode(done reconcile.PassDone) int {
	if done.Stopped != nil {
		return exit.CodeOf(done.Stopped)
	}
	switch done.Outcome {
	case reconcile.Done, reconcile.Changed:
		return exit.ExitDone
	case reconcile.Waiting:
		return orCode(conflicts(done.Failures), exit.ExitWaiting)
	case reconcile.Blocked:
		return orCode(conflicts(done.Failures), exit.ExitRefused)
	case reconcile.Failed:
		return failedCode(done)
	}
	return exit.ExitInternal
}

// failedCode returns the exit code of a pass in which a stage failed: partly done, unless the
// failure has a more helpful code of its own. If nothing was done, a refusal is one.
func failedCode(done reconcile.PassDone) int {
	code := exit.Worst(done.Failures)
	helps := code == exit.ExitUsage || code == exit.ExitUnreachable || code == exit.ExitForbidden || code == exit.ExitConflict
	switch {
	case helps:
		return code
	case done.Acted > 0:
		return exit.ExitPartly
	default:
		return orCode(code, exit.ExitInternal) // a failed pass never exits with 0, even without a reason
	}
}

// conflicts returns ExitConflict if another run's turn is among the errors.
func conflicts(errs []error) int {
	for _, err := range errs {
		if exit.CodeOf(err) == exit.ExitConflict {
			return exit.ExitConflict
		}
	}
	return exit.ExitDone
}

func orCode(code, otherwise int) int {
	if code == exit.ExitDone {
		return otherwise
	}
	return code
}

// all calls several reporters, in order.
func all(reporters ...func(reconcile.Event)) func(reconcile.Event) {
	return func(e reconcile.Event) {
		for _, report := range reporters {
			report(e)
		}
	}
}
