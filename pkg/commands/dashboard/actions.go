package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
)

// ScreenActions carries out the actions of keys like the commands themselves.
type ScreenActions struct {
	env       *session.Env
	namespace string
	// acting is full while a pass runs.
	acting chan struct{}

	mu       sync.Mutex
	Proposed *Proposed // the last proposal; only it can be carried out
	running  sync.WaitGroup
	// ends are the results of runs, printed after the TUI has ended.
	ends []string
}

var _ tui.Actions = (*ScreenActions)(nil)

// NewScreenActions returns the actions that the dashboard offers.
func NewScreenActions(env *session.Env, namespace string) *ScreenActions {
	return &ScreenActions{env: env, namespace: namespace, acting: make(chan struct{}, 1)}
}

// Turn waits until no pass runs.
func (a *ScreenActions) Turn(ctx context.Context) (end func(), err error) {
	select {
	case <-ctx.Done():
		return nil, exit.CauseOf(ctx, ctx.Err())
	default:
	}
	select {
	case a.acting <- struct{}{}:
		return func() { <-a.acting }, nil
	case <-ctx.Done():
		return nil, exit.CauseOf(ctx, ctx.Err())
	}
}

// Proposed is a command that waits for confirmation.
type Proposed struct {
	tui.Proposal
	passes *apply.Passes
	after  func(ctx context.Context, end error) error
	// At is when it was proposed.
	At time.Time
}

// proposalLasts is how long a proposal can be confirmed: its subjects may change in ways that
// no plan shows.
const proposalLasts = 5 * time.Minute

// capturedOutput holds what a command prints before its passes begin, until a proposal shows it. What passes print is
// their progress, which the dashboard has from their events.
type capturedOutput struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (c *capturedOutput) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

// lines returns the output since the last call.
func (c *capturedOutput) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.TrimRight(c.text.String(), "\n")
	c.text.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// Propose implements tui.Actions.
func (a *ScreenActions) Propose(ctx context.Context, ask tui.Ask) (tui.Proposal, error) {
	captured := &capturedOutput{}
	key := entries.Key(ask.Cluster, a.namespace)
	env := a.env.Within(key.Namespace, captured)
	session.BeginRun(env)
	c, key, err := screenChange(ctx, env, key, ask)
	if err != nil {
		return refusedOr(ctx, tui.Proposal{Ask: ask, Words: captured.lines()}, err)
	}
	p := tui.Proposal{Ask: ask, CommandLine: env.Command(append(c.Args, c.Shared()...)...)}
	run, err := apply.PassesOver(ctx, env, key, c.Change)
	if err != nil {
		return refusedOr(ctx, p, err)
	}
	p.Words = captured.lines() // what the preview prints meanwhile is its progress
	view, done, err := run.ToApprove(ctx)
	if err != nil {
		return refusedOr(ctx, p, err)
	}
	p.Plan = &view
	if len(c.Undo) > 0 {
		p.Words = append(p.Words, "undo: "+env.Command(c.Undo...))
	}
	p.Confirm = run.Confirms(view)
	if err := apply.RefusalOf(view, done); err != nil {
		return refusedOr(ctx, p, err)
	}
	if len(view.Items) == 0 {
		p.Refused = nothingToDo(view)
		return p, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Proposed = &Proposed{Proposal: p, passes: run, after: c.after, At: a.env.Clock.Now()}
	return p, nil
}

// refusedOr returns a proposal that cannot be carried out, with the reason. It is an error if
// the user left before it was ready.
func refusedOr(ctx context.Context, p tui.Proposal, err error) (tui.Proposal, error) {
	if ctx.Err() != nil {
		return p, exit.CauseOf(ctx, err)
	}
	p.Refused = exit.Explain(err)
	return p, nil
}

// nothingToDo returns why a plan has no actions.
func nothingToDo(v planned.PlanView) string {
	if h := v.MainHold(); h != nil {
		return string(h.Stage) + ": " + h.Reason
	}
	return "nothing to do"
}

// take returns the proposed command, once. An earlier plan cannot be carried out.
func (a *ScreenActions) take(p tui.Proposal) (*Proposed, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.Proposed
	a.Proposed = nil
	if last == nil || p.Plan == nil || last.Plan.Digest != p.Plan.Digest || last.CommandLine != p.CommandLine {
		return nil, errors.New("the plan is not the last proposal (nothing was changed)")
	}
	if age := a.env.Clock.Now().Sub(last.At); age > proposalLasts {
		return nil, fmt.Errorf("the proposal is %s old and expired after %s (nothing was changed): request it again", age.Round(time.Second), proposalLasts)
	}
	a.running.Add(1)
	return last, nil
}

// CarryOut implements tui.Actions. It carries out what was approved and nothing else:
// additional actions of a later pass cause another prompt in the TUI.
func (a *ScreenActions) CarryOut(ctx context.Context, p tui.Proposal, send func(tui.Entry)) error {
	last, err := a.take(p)
	if err != nil {
		return err
	}
	defer a.running.Done()
	run := last.passes
	run.Env.Observer = a.observer(run.Env, p.Ask, send)
	run.Approved = apply.Approval{} // a key approves what was shown, even if the command has no prompt
	run.Approved.Add(*last.Plan)
	run.Approved.About(run.Seen)
	if run.LosesData(*last.Plan) { // the name was typed in the TUI
		run.Approved.Named = &run.Seen
	}
	ctx, stop := untilLeft(ctx)
	defer stop()
	err = run.All(ctx)
	if last.after != nil {
		err = last.after(ctx, err)
	}
	a.ended(p, err)
	if err != nil {
		return errors.New(exit.Explain(err))
	}
	return nil
}

// untilLeft returns a context that ends when ctx does, as that of a command on Ctrl-C: the current
// action is finished, and locks are released.
func untilLeft(ctx context.Context) (context.Context, func()) {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() { cancel(&exit.InterruptedError{Signal: os.Interrupt, Words: "stopped in the dashboard"}) })
	return inner, func() { unhook(); cancel(nil) }
}

// observer sends the events of passes to the TUI, and shows prompts there: first why the approval so far is not enough.
func (a *ScreenActions) observer(env *session.Env, ask tui.Ask, send func(tui.Entry)) *session.RunObserver {
	cluster := ask.Cluster
	sendLine := func(line json.RawMessage) {
		send(tui.Entry{At: a.env.Clock.Now().UTC(), Cluster: cluster, Pass: line})
	}
	sendEvent, beyond := ui.Lines(sendLine), &beyondApproval{}
	return &session.RunObserver{
		Turn:     a.Turn,
		Event:    func(e reconcile.Event) { beyond.report(e); sendEvent(e) },
		Document: func(document any) { sendLine(ui.Line(document)) },
		Progress: func(inspect.Target) {}, // it is in the frames
		Agrees: func(ctx context.Context, v planned.PlanView, question, typed string) error {
			answers := make(chan bool, 1)
			send(tui.Entry{At: a.env.Clock.Now().UTC(), Cluster: cluster, Question: &tui.Question{
				Text: question, Words: beyond.words, Plan: &v, Confirm: typed, Answer: func(yes bool) { answers <- yes },
			}})
			select {
			case <-ctx.Done():
				return exit.CauseOf(ctx, ctx.Err())
			case yes := <-answers:
				if !yes {
					return env.Prompt().Declined()
				}
				return nil
			}
		},
	}
}

// beyondApproval notes which action ended the last pass, since nothing approved it.
type beyondApproval struct{ words []string }

func (b *beyondApproval) report(e reconcile.Event) {
	done, is := e.(reconcile.PassDone)
	if !is {
		return
	}
	b.words = nil
	if beyond := new(*reconcile.BeyondPlanError); errors.As(done.Stopped, beyond) {
		b.words = []string{(*beyond).Error()}
	}
}

// ended records a run that ended before its goal was reached.
func (a *ScreenActions) ended(p tui.Proposal, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.ends = append(a.ends, fmt.Sprintf("%s of %s ended: %s; run again: %s", strings.Join(append([]string{p.Verb}, p.Subjects...), " "), p.Cluster, exit.Explain(err), p.CommandLine))
	}
}

// Wait waits until no action of a key runs, and reports that. The TUI has ended by then.
func (a *ScreenActions) Wait(env *session.Env) {
	ended := make(chan struct{})
	go func() { a.running.Wait(); close(ended) }()
	for interval := time.Second; ; interval = session.ProgressInterval {
		timer := env.Clock.NewTimer(interval)
		select {
		case <-ended:
			timer.Stop()
			a.printEnds(env)
			return
		case <-timer.C():
			env.Logf("finishing the current action, then releasing locks")
		}
	}
}

// printEnds prints how the last run ended, after the TUI has ended.
func (a *ScreenActions) printEnds(env *session.Env) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.ends); n > 0 {
		env.Logf("%s", a.ends[n-1])
	}
}
