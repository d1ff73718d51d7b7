package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// work is one action from the key to its end.
type work struct {
	id    int
	ask   Ask
	phase phase
	// since is when the phase began, over when the action ended.
	since, over time.Time
	proposal    Proposal
	typed       string
	// seen is how long the proposal has been displayed.
	seen    tickCount
	failure string
	end     context.CancelFunc
}

// phase is the progress of an action.
type phase int

const (
	proposing phase = iota
	deciding
	executing
	finished
)

// Messages of actions to the dashboard.
type (
	proposalMsg struct {
		id       int
		proposal Proposal
		err      error
	}
	actionMsg struct {
		id  int
		err error
	}
)

// busy reports whether an action is running: only one may.
func (m model) busy() bool { return m.work != nil && m.work.phase == executing }

// propose requests what a command would do. Nil subjects mean that none is selected.
func (m model) propose(verb string, subjects []string) model {
	switch {
	case m.o.Actions == nil:
		return m.notify(warn, m.readOnly())
	case m.busy():
		return m.notify(warn, m.work.ask.Label()+" is still running; a shows it, ctrl-x stops it")
	case m.back >= 0 || m.paused:
		return m.notify(warn, "this is not live data; esc returns to it")
	case subjects == nil:
		return m.notify(plain, "select what to "+verb+" first")
	}
	m.lastWork++
	w := work{id: m.lastWork, ask: Ask{Verb: verb, Cluster: m.name(), Subjects: subjects}, since: m.now}
	actions := m.o.Actions
	w.end = m.out.run(func(ctx context.Context, send func(tea.Msg)) {
		p, err := actions.Propose(ctx, w.ask)
		send(proposalMsg{w.id, p, err})
	})
	m.work = &w
	return m.open(pane{kind: paneWork})
}

// proposalReady applies the result of propose.
func (m model) proposalReady(p proposalMsg) model {
	if m.work == nil || m.work.id != p.id {
		return m
	}
	w := *m.work
	w.phase, w.since, w.proposal = deciding, m.now, p.proposal
	if p.err != nil {
		w.phase, w.over, w.failure = finished, m.now, p.err.Error()
	}
	m.work = &w
	return m
}

// execute runs what was approved.
func (m model) execute() model {
	w := *m.work
	w.phase, w.since = executing, m.now
	actions := m.o.Actions
	w.end = m.out.run(func(ctx context.Context, send func(tea.Msg)) {
		err := actions.CarryOut(ctx, w.proposal, func(e Entry) { send(entryMsg{e, w.id}) })
		send(actionMsg{w.id, err})
	})
	m.work = &w
	return m
}

// actionFinished applies the end of an action.
func (m model) actionFinished(c actionMsg) model {
	if m.work == nil || m.work.id != c.id {
		return m
	}
	w := *m.work
	w.phase, w.over = finished, m.now
	if c.err != nil {
		w.failure = c.err.Error()
	}
	m.work = &w
	m.questions = slices.DeleteFunc(slices.Clone(m.questions), func(q pendingQuestion) bool { return q.work == c.id })
	if m.shows(paneQuestion) && len(m.questions) == 0 {
		m, _ = m.goBack()
	}
	if m.shows(paneWork) {
		return m
	}
	if w.failure != "" {
		return m.notify(bad, markBad+" "+w.ask.Label()+": "+w.failure)
	}
	return m.notify(good, markGood+" "+w.ask.Label()+" is done")
}

// stopWork cancels the running action, which first completes the change in progress.
func (m model) stopWork() model {
	if !m.busy() {
		return m.notify(plain, "no action is running")
	}
	m.work.end()
	return m.notify(warn, "stopping "+m.work.ask.Label())
}

// suspend stops this program until the shell resumes it. A running action would stop as well,
// half done and with its locks held.
func (m model) suspend() (model, tea.Cmd) {
	if m.busy() || m.o.Passes {
		return m.notify(warn, "cannot suspend: running actions and passes would stop half done"), nil
	}
	return m, tea.Suspend
}

func (m model) returnToWork() model {
	switch {
	case len(m.questions) > 0:
		m.questions = slices.Clone(m.questions)
		m.questions[0].typed = ""
		return m.open(pane{kind: paneQuestion})
	case m.work != nil:
		return m.open(pane{kind: paneWork})
	default:
		return m.notify(plain, "no action")
	}
}

// answer handles a key while an action or a question waits for an answer; taken reports whether
// it was handled.
func (m model) answer(key tea.KeyMsg) (next model, cmd tea.Cmd, taken bool) {
	switch {
	case m.shows(paneQuestion) && len(m.questions) > 0:
		return m.answerQuestion(key)
	case m.shows(paneWork) && m.work != nil && m.work.phase != executing:
		next, taken = m.decide(key)
		return next, nil, taken
	}
	return m, nil, false
}

// decide handles a key while a proposal waits. Leaving the proposal cancels it.
func (m model) decide(key tea.KeyMsg) (model, bool) {
	w := *m.work
	switch {
	case key.Type == tea.KeyEsc:
		w.end()
		m.work = nil
		m, _ = m.goBack()
		return m, true
	case w.phase != deciding || w.proposal.Refused != "":
		return m, false
	case !w.seen.ready() && (key.Type == tea.KeyEnter || isText(key)):
		return m, true
	case key.Type == tea.KeyEnter && w.typed == w.proposal.Confirm:
		return m.execute(), true
	case key.Type == tea.KeyEnter:
		text := wrongAnswer(w.typed, w.proposal.Confirm, "to confirm, or esc")
		w.typed = ""
		m.work = &w
		return m.notify(warn, text), true
	case w.proposal.Confirm == "":
		return m, false
	}
	var taken bool
	w.typed, taken = edited(w.typed, key)
	m.work = &w
	return m, taken
}

// wrongAnswer returns the notice after an invalid answer, which has been cleared.
func wrongAnswer(typed, confirm, otherwise string) string {
	text := "type " + confirm + " " + otherwise
	if typed != "" {
		text = typed + " is not a valid answer: " + text
	}
	return text
}

// spinner shows that something is in progress.
func (s clusterView) spinner() string { return []string{"|", "/", "-", "\\"}[s.now.Unix()&3] }

// workText returns what the action would do, what it does, or how it ended.
func (m model) workText(s clusterView) []line {
	if m.work == nil {
		return []line{styledLine(plain, "no action")}
	}
	w := m.work
	lines := []line{heading(w.ask.Label() + " in " + w.ask.Cluster)}
	switch w.phase {
	case proposing:
		return append(lines, styledLine(plain, fmt.Sprintf("  %s preparing the plan, for %s", s.spinner(), phrase.Duration(m.now.Sub(w.since)))), styledLine(faint, "  esc cancels it"))
	case deciding:
		lines = append(lines, proposalLines(w.proposal, m.width)...)
		if w.proposal.Refused != "" {
			lines = append(lines, heading("Refused"), styledLine(bad, "  "+markBad+" "+w.proposal.Refused))
		}
		return lines
	case executing:
		lines = append(lines, styledLine(strong, fmt.Sprintf("  %s running for %s", s.spinner(), phrase.Duration(m.now.Sub(w.since)))), styledLine(faint, "  esc leaves it running, ctrl-x stops it"))
	case finished:
		t, text := good, markGood+" done"
		if w.failure != "" {
			t, text = bad, markBad+" "+w.failure
		}
		lines = append(lines, styledLine(t, "  "+text+", "+phrase.Duration(m.now.Sub(w.over))+" ago"))
	}
	if w.proposal.CommandLine != "" {
		lines = append(lines, factIn(paint.Command, "command", w.proposal.CommandLine))
	}
	return append(lines, s.progress(w.since)...)
}
