package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// finish sums up and turns the end of the last pass, or what interrupted it, into
// the end of the command.
func (p *passes) finish(ctx context.Context, err error) error {
	end := p.end(ctx, err)
	if p.env.hearing != nil {
		p.env.hearing.document(p.document(end))
	}
	if !p.tells() {
		out := outputFlags{format: p.output}
		return errors.Join(out.print(p.env.Out, printable{document: p.document(end), names: p.names(), stream: p.output == "json"}), end)
	}
	fmt.Fprintln(p.env.Out, p.sentence(end))
	p.noteHousekeeping()
	if end == nil && p.acted > 0 && len(p.undo) > 0 {
		p.env.talk("undo: %s", p.env.command(p.undo...))
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
		return &failure{code: interruptCode(*interrupted), err: p.withKept(cause), hints: []string{p.again("to go on")}, told: true}
	case errors.Is(cause, errTimeout):
		return &failure{code: ExitWaiting, err: p.withKept(p.timedOut()), hints: []string{p.again("to go on")}, told: true}
	default:
		return fmt.Errorf("reconciling %s: %w", p.subject(), err)
	}
}

// withKept adds what was cut off, and what could not be given back, to what cut the command
// short.
func (p *passes) withKept(cause error) error {
	if cut := p.unfinished(); cut != nil {
		cause = fmt.Errorf("%w; %s", cause, explain(cut))
	}
	if p.kept != nil {
		cause = fmt.Errorf("%w; %s", cause, explain(p.kept))
	}
	return cause
}

// unfinished is what the last pass began and was not let finish; nil for nothing.
func (p *passes) unfinished() error {
	for _, err := range p.last.Failures {
		if admin.KindOf(err) == admin.KindUnfinished {
			return err
		}
	}
	return nil
}

// timedOut says what was still waited for when --timeout was over.
func (p *passes) timedOut() error {
	if _, words := p.waitsFor(); words != "" {
		return fmt.Errorf("%w after %s: %s", errTimeout, p.timeout, words)
	}
	return fmt.Errorf("%w after %s", errTimeout, p.timeout)
}

// verdict is the end of the last pass. What was reached makes up for what a pass still waits
// for, and never for what failed or was refused: who looks may see what was there before.
func (p *passes) verdict() error {
	code := passCode(p.last)
	if code == ExitDone || code == ExitWaiting && p.reached {
		return nil
	}
	if p.wantsLoss() && p.env.planned == nil {
		return p.unnamed()
	}
	f := &failure{code: code, err: errors.New(p.why.words(p.last)), told: true}
	switch code {
	case ExitWaiting:
		f.hints = []string{p.again("until it is done", "--wait")}
	case ExitPartly:
		why := "later"
		if p.unfinished() != nil {
			why = "to go on"
		}
		f.hints = []string{p.again(why)}
	case ExitConflict:
		f.hints = []string{p.again("later")}
	}
	if p.beyondPlan() || (p.env.planned != nil && code == ExitWaiting) {
		f.hints = []string{p.planAnew("for what is left make the next plan")}
	}
	return f
}

// again is the hint to run the same command once more.
func (p *passes) again(why string, extra ...string) string {
	flags := p.shared()
	for _, flag := range extra {
		if !slices.Contains(flags, flag) {
			flags = append([]string{flag}, flags...)
		}
	}
	return why + ": " + p.env.command(slices.Concat(p.words, flags)...)
}

// document is the last line of the JSON.
func (p *passes) document(end error) any {
	if p.purpose == nil {
		return p.result(end)
	}
	r := ui.ChangeResult{ReconcileResult: p.result(end), Command: p.words[0], Reached: p.reached, Targets: append([]ui.Target{}, p.targets...)}
	r.Kind = "ChangeResult"
	return r
}

// names are what -o name prints: of a replacement the groups that take over, else what the
// command was about.
func (p *passes) names() []string {
	kind, ofTargets := kindOfTargets[p.words[0]]
	switch {
	case p.words[0] == "replace":
		return namesOf("processgroup", p.added, func(id v1beta2.ProcessGroupID) string { return string(id) })
	case ofTargets:
		return namesOf(kind, p.targets, func(t ui.Target) string { return t.ID })
	case p.run.record != nil:
		return []string{p.subject()}
	default:
		return []string{"foundationdbcluster/" + p.key.Name}
	}
}

// kindOfTargets is what commands are about.
var kindOfTargets = map[string]string{
	"restart": "processgroup", "exclude": "processgroup", "include": "processgroup",
	"cordon": "node", "uncordon": "node", "drain": "node",
}

// notes which process groups were added.
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

func (p *passes) result(end error) ui.ReconcileResult {
	r := ui.ReconcileResult{
		Document: ui.NewDocument("ReconcileResult", p.env.metadata(p.run.record.named(p.key)), p.env.Clock.Now(), ui.SourceLive),
		Outcome:  p.last.Outcome, Passes: p.count, Acted: p.acted, ExitCode: ExitCode(end), Last: ui.RecordPass(p.last),
	}
	if end != nil {
		r.Reason = explain(end)
	}
	return r
}

// sentence is the last line of the text: what was reached and what is left.
func (p *passes) sentence(end error) string {
	did := phrase.Count(p.acted, "action")
	if p.count != 1 {
		did += " in " + phrase.Count(p.count, "pass")
	}
	switch {
	case end == nil && p.purpose != nil:
		return p.subject() + ": " + p.purpose.did(p.reached)
	case end == nil && p.partial && p.acted == 0:
		return p.subject() + ": the chosen steps have nothing to do; the others were not asked"
	case end == nil && p.partial:
		return fmt.Sprintf("%s: the chosen steps did all they found to do, %s; the others were not asked", p.subject(), did)
	case end == nil && p.acted == 0:
		return p.subject() + ": as it should be; nothing was to do"
	case end == nil:
		return fmt.Sprintf("%s: as it should be, after %s", p.subject(), did)
	}
	return fmt.Sprintf("%s: %s after %s: %s", p.subject(), p.endWord(end), did, explain(end))
}

func (p *passes) endWord(end error) string {
	switch ExitCode(end) {
	case ExitHungUp, ExitInterrupted, ExitTerminated:
		if p.kept != nil {
			return "interrupted"
		}
		return "interrupted, everything locked was given back,"
	case ExitConflict:
		return "stopped"
	case ExitWaiting: // also after a pass that had nothing left to do, where a target is not there yet
		return reconcile.Waiting.String()
	default:
		return p.last.Outcome.String()
	}
}

// failureOf are the errors of a pass as one.
func failureOf(done reconcile.PassDone) error {
	if done.Stopped != nil {
		return done.Stopped
	}
	return errors.Join(done.Failures...)
}
