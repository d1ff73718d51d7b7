package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// finish prints the summary, and turns the end of the last pass, or its interruption, into the
// end of the command.
func (p *passes) finish(ctx context.Context, err error) error {
	end := p.end(ctx, err)
	if p.env.observer != nil {
		p.env.observer.document(p.document(end))
	}
	if !p.printsText() {
		out := outputFlags{format: p.output}
		return errors.Join(out.print(p.env.Out, printable{document: p.document(end), names: p.names(), stream: p.output == "json"}), end)
	}
	fmt.Fprintln(p.env.Out, p.sentence(end))
	p.noteHousekeeping()
	if end == nil && p.acted > 0 && len(p.undo) > 0 {
		p.env.logf("undo: %s", p.env.command(p.undo...))
	}
	return end
}

func (p *passes) end(ctx context.Context, err error) error {
	var known *failure
	cause := causeOf(ctx, err)
	interrupted := new(*InterruptedError)
	switch {
	case err == nil:
		return p.verdict()
	case errors.As(err, &known):
		return err
	case errors.As(cause, interrupted):
		return &failure{code: interruptCode(*interrupted), err: p.withKept(cause), hints: []string{p.again("resume")}, printed: true}
	case errors.Is(cause, errTimeout):
		return &failure{code: ExitWaiting, err: p.withKept(p.timedOut()), hints: []string{p.again("resume")}, printed: true}
	default:
		return fmt.Errorf("reconciling %s: %w", p.subject(), err)
	}
}

// withKept adds an interrupted action, and what could not be released, to the cause of the
// interruption.
func (p *passes) withKept(cause error) error {
	if cut := p.unfinished(); cut != nil {
		cause = fmt.Errorf("%w; %s", cause, explain(cut))
	}
	if p.kept != nil {
		cause = fmt.Errorf("%w; %s", cause, explain(p.kept))
	}
	return cause
}

// unfinished returns the action that the last pass began and could not finish; nil for none.
func (p *passes) unfinished() error {
	for _, err := range p.last.Failures {
		if admin.KindOf(err) == admin.KindUnfinished {
			return err
		}
	}
	return nil
}

// timedOut returns what the command was waiting for when --timeout ended.
func (p *passes) timedOut() error {
	if _, words := p.waitsFor(); words != "" {
		return fmt.Errorf("%w after %s: %s", errTimeout, p.timeout, words)
	}
	return fmt.Errorf("%w after %s", errTimeout, p.timeout)
}

// verdict returns the end of the last pass. A reached goal outweighs what a pass still waits
// for, but no failure or refusal: the status may predate the failed action.
func (p *passes) verdict() error {
	code := passCode(p.last)
	if code == ExitDone || code == ExitWaiting && p.reached {
		return nil
	}
	if p.wantsLoss() && p.env.planned == nil {
		return p.unnamed()
	}
	f := &failure{code: code, err: errors.New(p.why.words(p.last)), printed: true}
	switch code {
	case ExitWaiting:
		f.hints = []string{p.again("wait until done", "--wait")}
	case ExitPartly:
		why := "later"
		if p.unfinished() != nil {
			why = "resume"
		}
		f.hints = []string{p.again(why)}
	case ExitConflict:
		f.hints = []string{p.again("later")}
	}
	if p.beyondPlan() || (p.env.planned != nil && code == ExitWaiting) {
		f.hints = []string{p.planAgain("create a plan for the rest")}
	}
	return f
}

// again returns the hint to run the same command again.
func (p *passes) again(why string, extra ...string) string {
	flags := p.shared()
	for _, flag := range extra {
		if !slices.Contains(flags, flag) {
			flags = append([]string{flag}, flags...)
		}
	}
	return why + ": " + p.env.command(slices.Concat(p.words, flags)...)
}

// document prints the last line of the JSON.
func (p *passes) document(end error) any {
	if p.goal == nil {
		return p.result(end)
	}
	r := ui.ChangeResult{ReconcileResult: p.result(end), Command: p.words[0], Reached: p.reached, Targets: append([]inspect.Target{}, p.targets...)}
	r.Kind = "ChangeResult"
	return r
}

// names returns what -o name prints: the new groups of a replacement, else the subjects of the
// command.
func (p *passes) names() []string {
	kind, ofTargets := kindOfTargets[p.words[0]]
	switch {
	case p.words[0] == "replace":
		return namesOf("processgroup", p.added, func(id v1beta2.ProcessGroupID) string { return string(id) })
	case ofTargets:
		return namesOf(kind, p.targets, func(t inspect.Target) string { return t.ID })
	case p.run.record != nil:
		return []string{p.subject()}
	default:
		return []string{"foundationdbcluster/" + p.key.Name}
	}
}

// kindOfTargets is the kind of the subjects of commands.
var kindOfTargets = map[string]string{
	"restart": "processgroup", "exclude": "processgroup", "include": "processgroup",
	"cordon": "node", "uncordon": "node", "drain": "node",
}

// notes records the added process groups.
func (p *passes) notes(e reconcile.Event) {
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

func (p *passes) result(end error) inspect.ReconcileResult {
	r := inspect.ReconcileResult{
		Document: inspect.NewDocument("ReconcileResult", p.env.metadata(p.run.record.named(p.key)), p.env.Clock.Now(), inspect.SourceLive),
		Outcome:  p.last.Outcome, Passes: p.count, Acted: p.acted, ExitCode: ExitCode(end), Last: inspect.RecordPass(p.last),
	}
	if end != nil {
		r.Reason = explain(end)
	}
	return r
}

// sentence returns the last line of the text: what was reached and what is left.
func (p *passes) sentence(end error) string {
	did := phrase.Count(p.acted, "action")
	if p.count != 1 {
		did += " in " + phrase.Count(p.count, "pass")
	}
	switch {
	case end == nil && p.goal != nil:
		return p.subject() + ": " + p.goal.summary(p.reached)
	case end == nil && p.partial && p.acted == 0:
		return p.subject() + ": nothing to do in the selected stages; the others were not run"
	case end == nil && p.partial:
		return fmt.Sprintf("%s: the selected stages are done (%s); the others were not run", p.subject(), did)
	case end == nil && p.acted == 0:
		return p.subject() + ": already reconciled, no changes"
	case end == nil:
		return fmt.Sprintf("%s: reconciled (%s)", p.subject(), did+p.took())
	}
	return fmt.Sprintf("%s: %s after %s: %s", p.subject(), p.endWord(end), did, explain(end))
}

// took returns the duration of several passes for the last line.
func (p *passes) took() string {
	if p.count == 1 {
		return ""
	}
	return ", " + p.env.Clock.Since(p.started).Round(time.Second).String()
}

func (p *passes) endWord(end error) string {
	switch ExitCode(end) {
	case ExitHungUp, ExitInterrupted, ExitTerminated:
		if p.kept != nil {
			return "interrupted"
		}
		return "interrupted, all locks released,"
	case ExitConflict:
		return "stopped"
	case ExitWaiting: // also after a pass without work, while a target is not reached
		return reconcile.Waiting.String()
	default:
		return p.last.Outcome.String()
	}
}

// failureOf joins the errors of a pass.
func failureOf(done reconcile.PassDone) error {
	if done.Stopped != nil {
		return done.Stopped
	}
	return errors.Join(done.Failures...)
}
