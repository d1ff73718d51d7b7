package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// finish prints the summary, and turns the end of the last pass, or its interruption, into the
// end of the command.
func (p *Passes) finish(ctx context.Context, err error) error {
	end := p.end(ctx, err)
	if p.Env.Observer != nil {
		p.Env.Observer.Document(p.document(end))
	}
	if !p.PrintsText() {
		out := format.Flags{Format: p.Output}
		return errors.Join(out.Print(p.Env.Out, format.Printable{Document: p.document(end), Names: p.names(), Stream: p.Output == "json"}), end)
	}
	fmt.Fprintln(p.Env.Out, p.sentence(end))
	p.noteHousekeeping()
	if end == nil && p.acted > 0 && len(p.Undo) > 0 {
		p.Env.Logf("undo: %s", p.Env.Command(p.Undo...))
	}
	return end
}

func (p *Passes) end(ctx context.Context, err error) error {
	var known *exit.Error
	cause := exit.CauseOf(ctx, err)
	interrupted := new(*exit.InterruptedError)
	switch {
	case err == nil:
		return p.Verdict()
	case errors.As(err, &known):
		return err
	case errors.As(cause, interrupted):
		return &exit.Error{Code: exit.InterruptCode(*interrupted), Err: p.withKept(cause), Hints: []string{p.again("resume")}, Printed: true}
	case errors.Is(cause, exit.ErrTimeout):
		return &exit.Error{Code: exit.ExitWaiting, Err: p.withKept(p.timedOut()), Hints: []string{p.again("resume")}, Printed: true}
	default:
		return fmt.Errorf("reconciling %s: %w", p.subject(), err)
	}
}

// withKept adds an interrupted action, and what could not be released, to the cause of the
// interruption.
func (p *Passes) withKept(cause error) error {
	if cut := p.unfinished(); cut != nil {
		cause = fmt.Errorf("%w; %s", cause, exit.Explain(cut))
	}
	if p.kept != nil {
		cause = fmt.Errorf("%w; %s", cause, exit.Explain(p.kept))
	}
	return cause
}

// unfinished returns the action that the last pass began and could not finish; nil for none.
func (p *Passes) unfinished() error {
	for _, err := range p.Last.Failures {
		if admin.KindOf(err) == admin.KindUnfinished {
			return err
		}
	}
	return nil
}

// timedOut returns what the command was waiting for when --timeout ended.
func (p *Passes) timedOut() error {
	if _, words := p.waitsFor(); words != "" {
		return fmt.Errorf("%w after %s: %s", exit.ErrTimeout, p.timeout, words)
	}
	return fmt.Errorf("%w after %s", exit.ErrTimeout, p.timeout)
}

// Verdict returns the end of the last pass. A reached goal outweighs what a pass still waits
// for, but no failure or refusal: the status may predate the failed action.
func (p *Passes) Verdict() error {
	code := passCode(p.Last)
	if goal, answers := p.Goal.(Answering); answers && (code == exit.ExitDone || code == exit.ExitWaiting) {
		return goal.Answer()
	}
	if code == exit.ExitDone || code == exit.ExitWaiting && p.Reached {
		return nil
	}
	if p.wantsLoss() && p.Env.Planned == nil {
		return p.unnamed()
	}
	f := &exit.Error{Code: code, Err: errors.New(p.why.Words(p.Last)), Printed: true}
	switch code {
	case exit.ExitWaiting:
		f.Hints = []string{p.again("wait until done", "--wait")}
	case exit.ExitPartly:
		why := "later"
		if p.unfinished() != nil {
			why = "resume"
		}
		f.Hints = []string{p.again(why)}
	case exit.ExitConflict:
		f.Hints = []string{p.again("later")}
	}
	if p.beyondPlan() || (p.Env.Planned != nil && code == exit.ExitWaiting) {
		f.Hints = []string{p.planAgain("create a plan for the rest")}
	}
	return f
}

// again returns the hint to run the same command again.
func (p *Passes) again(why string, extra ...string) string {
	flags := p.Shared()
	for _, flag := range extra {
		if !slices.Contains(flags, flag) {
			flags = append([]string{flag}, flags...)
		}
	}
	return why + ": " + p.Env.Command(slices.Concat(p.Words, flags)...)
}

// document prints the last line of the JSON.
func (p *Passes) document(end error) any {
	if p.Goal == nil {
		return p.result(end)
	}
	r := ui.ChangeResult{ReconcileResult: p.result(end), Command: p.Words[0], Reached: p.Reached, Targets: append([]inspect.Target{}, p.targets...)}
	r.Kind = "ChangeResult"
	return r
}

// names returns what -o name prints: the new groups of a replacement, else the subjects of the
// command.
func (p *Passes) names() []string {
	kind, ofTargets := kindOfTargets[p.Words[0]]
	switch {
	case p.Words[0] == "replace":
		return session.NamesOf("processgroup", p.added, func(id v1beta2.ProcessGroupID) string { return string(id) })
	case ofTargets:
		return session.NamesOf(kind, p.targets, func(t inspect.Target) string { return t.ID })
	case p.Run.Record != nil:
		return []string{p.subject()}
	default:
		return []string{"foundationdbcluster/" + p.Key.Name}
	}
}

// kindOfTargets is the kind of the subjects of commands.
var kindOfTargets = map[string]string{
	"restart": "processgroup", "exclude": "processgroup", "include": "processgroup",
	"detect-failures": "processgroup", "cordon": "node", "uncordon": "node", "drain": "node",
}

// notes records the added process groups, and what the goal depends on.
func (p *Passes) notes(e reconcile.Event) {
	if goal, notes := p.Goal.(Noting); notes {
		goal.Note(e)
	}
	done, ok := e.(reconcile.ActionDone)
	if !ok || done.Err != nil {
		return
	}
	if add, is := done.Action.(plan.AddGroups); is {
		for _, g := range add.Groups {
			p.added = append(p.added, g.ID)
		}
	}
}

func (p *Passes) result(end error) inspect.ReconcileResult {
	r := inspect.ReconcileResult{
		Document: inspect.NewDocument("ReconcileResult", p.Env.Metadata(p.Run.Record.Named(p.Key)), p.Env.Clock.Now(), inspect.SourceLive),
		Outcome:  p.Last.Outcome, Passes: p.count, Acted: p.acted, ExitCode: exit.Code(end), Last: inspect.RecordPass(p.Last),
	}
	if p.isAnswer(end) {
		r.Reason = p.Goal.Summary(p.extent())
	} else if end != nil {
		r.Reason = exit.Explain(end)
	}
	return r
}

// sentence returns the last line of the text: what was reached and what is left.
func (p *Passes) sentence(end error) string {
	did := phrase.Count(p.acted, "action")
	if p.count != 1 {
		did += " in " + phrase.Count(p.count, "pass")
	}
	switch {
	case (end == nil || p.isAnswer(end)) && p.Goal != nil:
		return p.subject() + ": " + p.Goal.Summary(p.extent())
	case end == nil && p.Partial && p.acted == 0:
		return p.subject() + ": nothing to do in the selected stages; the others were not run"
	case end == nil && p.Partial:
		return fmt.Sprintf("%s: the selected stages are done (%s); the others were not run", p.subject(), did)
	case end == nil && p.acted == 0:
		return p.subject() + ": already reconciled, no changes"
	case end == nil:
		return fmt.Sprintf("%s: reconciled (%s)", p.subject(), did+p.took())
	}
	return fmt.Sprintf("%s: %s after %s: %s", p.subject(), p.endWord(end), did, exit.Explain(end))
}

func (p *Passes) extent() Extent {
	if p.Reached {
		return Reached
	}
	return Begun
}

// isAnswer reports whether the command ends with the answer of its goal.
func (p *Passes) isAnswer(end error) bool {
	_, answers := errors.AsType[exit.AnswerError](end)
	return answers && p.Goal != nil
}

// took returns the duration of several passes for the last line.
func (p *Passes) took() string {
	if p.count == 1 {
		return ""
	}
	return ", " + p.Env.Clock.Since(p.started).Round(time.Second).String()
}

func (p *Passes) endWord(end error) string {
	switch exit.Code(end) {
	case exit.ExitHungUp, exit.ExitInterrupted, exit.ExitTerminated:
		if p.kept != nil {
			return "interrupted"
		}
		return "interrupted, all locks released,"
	case exit.ExitConflict:
		return "stopped"
	case exit.ExitWaiting: // also after a pass without work, while a target is not reached
		return reconcile.Waiting.String()
	default:
		return p.Last.Outcome.String()
	}
}

// failureOf joins the errors of a pass.
func failureOf(done reconcile.PassDone) error {
	if done.Stopped != nil {
		return done.Stopped
	}
	return errors.Join(done.Failures...)
}
