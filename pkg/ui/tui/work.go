package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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
	// seen is how long the proposal is on the screen.
	seen    beats
	failure string
	end     context.CancelFunc
}

// phase is how far an action is.
type phase int

const (
	proposing phase = iota
	deciding
	carrying
	finished
)

// What actions tell the screen.
type (
	proposed struct {
		id       int
		proposal Proposal
		err      error
	}
	carried struct {
		id  int
		err error
	}
)

func (a Ask) words() string {
	return strings.TrimSpace(a.Verb + " " + strings.Join(a.Subjects, " "))
}

// busy reports whether an action runs that another one must not run beside.
func (m model) busy() bool { return m.work != nil && m.work.phase == carrying }

// propose asks what a command would do. Nil subjects are none chosen.
func (m model) propose(verb string, subjects []string) model {
	switch {
	case m.o.Actions == nil:
		return m.say(warn, m.readOnly())
	case m.busy():
		return m.say(warn, m.work.ask.words()+" still runs; a shows it, ctrl-x stops it")
	case m.back >= 0 || m.paused:
		return m.say(warn, "this is not how it is now; esc returns to that")
	case subjects == nil:
		return m.say(plain, "choose what to "+verb+" first")
	}
	m.lastWork++
	w := work{id: m.lastWork, ask: Ask{Verb: verb, Cluster: m.name(), Subjects: subjects}, since: m.now}
	actions := m.o.Actions
	w.end = m.out.run(func(ctx context.Context, send func(tea.Msg)) {
		p, err := actions.Propose(ctx, w.ask)
		send(proposed{w.id, p, err})
	})
	m.work = &w
	return m.open(pane{kind: paneWork})
}

// hasProposal takes over what a command would do.
func (m model) hasProposal(p proposed) model {
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

// carryOut does what was approved.
func (m model) carryOut() model {
	w := *m.work
	w.phase, w.since = carrying, m.now
	actions := m.o.Actions
	w.end = m.out.run(func(ctx context.Context, send func(tea.Msg)) {
		err := actions.CarryOut(ctx, w.proposal, func(e Entry) { send(told{e, w.id}) })
		send(carried{w.id, err})
	})
	m.work = &w
	return m
}

func (m model) hasCarried(c carried) model {
	if m.work == nil || m.work.id != c.id {
		return m
	}
	w := *m.work
	w.phase, w.over = finished, m.now
	if c.err != nil {
		w.failure = c.err.Error()
	}
	m.work = &w
	m.questions = slices.DeleteFunc(slices.Clone(m.questions), func(q asking) bool { return q.work == c.id })
	if m.shows(paneQuestion) && len(m.questions) == 0 {
		m, _ = m.goBack()
	}
	if m.shows(paneWork) {
		return m
	}
	if w.failure != "" {
		return m.say(bad, markBad+" "+w.ask.words()+": "+w.failure)
	}
	return m.say(good, markGood+" "+w.ask.words()+" is done")
}

// stopWork has the action that runs end. What it does at that moment it finishes.
func (m model) stopWork() model {
	if !m.busy() {
		return m.say(plain, "no action runs")
	}
	m.work.end()
	return m.say(warn, "stopping "+m.work.ask.words())
}

// suspend stops this program until the shell goes on with it. What runs would stop with it,
// half done and with what it locked.
func (m model) suspend() (model, tea.Cmd) {
	if m.busy() || m.o.Passes {
		return m.say(warn, "what acts here would stop half done: not while it runs"), nil
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
		return m.say(plain, "there is no action")
	}
}

// answer takes a key while an action or a question waits for an answer; taken says that
// the key was for that.
func (m model) answer(key tea.KeyMsg) (next model, cmd tea.Cmd, taken bool) {
	switch {
	case m.shows(paneQuestion) && len(m.questions) > 0:
		return m.answerQuestion(key)
	case m.shows(paneWork) && m.work != nil && m.work.phase != carrying:
		next, taken = m.decide(key)
		return next, nil, taken
	}
	return m, nil, false
}

// decide takes a key while a proposal waits. Leaving it ends it.
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
		return m.carryOut(), true
	case key.Type == tea.KeyEnter:
		said := notTheWord(w.typed, w.proposal.Confirm, "to agree, or esc")
		w.typed = ""
		m.work = &w
		return m.say(warn, said), true
	case w.proposal.Confirm == "":
		return m, false
	}
	var taken bool
	w.typed, taken = edited(w.typed, key)
	m.work = &w
	return m, taken
}

// notTheWord is what to say to who typed something else than what agrees. He begins anew.
func notTheWord(typed, confirm, otherwise string) string {
	said := "type " + confirm + " " + otherwise
	if typed != "" {
		said = typed + " is no answer: " + said
	}
	return said
}

// spinner shows that something goes on, on screens that show motion and on those that
// are read.
func (s sight) spinner() string { return []string{"|", "/", "-", "\\"}[s.now.Unix()&3] }

// workText is the action: what it would do, what it does, how it ended.
func (m model) workText(s sight) []line {
	if m.work == nil {
		return []line{sayLine(plain, "there is no action")}
	}
	w := m.work
	lines := []line{heading(w.ask.words() + " in " + w.ask.Cluster)}
	switch w.phase {
	case proposing:
		return append(lines, sayLine(plain, fmt.Sprintf("  %s working out what it would do, for %s", s.spinner(), phrase.Duration(m.now.Sub(w.since)))), sayLine(faint, "  esc ends that"))
	case deciding:
		lines = append(lines, proposalLines(w.proposal, m.width)...)
		if w.proposal.Refused != "" {
			lines = append(lines, heading("Refused"), sayLine(bad, "  "+markBad+" "+w.proposal.Refused))
		}
		return lines
	case carrying:
		lines = append(lines, sayLine(strong, fmt.Sprintf("  %s runs for %s", s.spinner(), phrase.Duration(m.now.Sub(w.since)))), sayLine(faint, "  esc leaves it running, ctrl-x stops it"))
	case finished:
		t, text := good, markGood+" done"
		if w.failure != "" {
			t, text = bad, markBad+" "+w.failure
		}
		lines = append(lines, sayLine(t, "  "+text+", "+phrase.Duration(m.now.Sub(w.over))+" ago"))
	}
	if w.proposal.CommandLine != "" {
		lines = append(lines, fact("the same by", w.proposal.CommandLine))
	}
	return append(lines, s.progress(w.since)...)
}
