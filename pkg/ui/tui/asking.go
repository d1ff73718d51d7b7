package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"
)

// asking is a question that waits for a person.
type asking struct {
	Question
	cluster string
	typed   string
	// seen is how long it is on the screen: what somebody typed just before was meant for
	// something else, and is no answer.
	seen beats
	// work is the action that asks, and with which the question ends; 0 for none.
	work int
}

// beats are how many of them something was on the screen for.
type beats int

// ready reports whether it was there for a whole beat. The first one that finds it there may
// come before a frame with it was drawn; between two there is always time for one.
func (b beats) ready() bool { return b > 1 }

func (a asking) confirm() string {
	if a.Confirm == "" {
		return "y"
	}
	return a.Confirm
}

func (m model) questionText() []line {
	if len(m.questions) == 0 {
		return []line{sayLine(plain, "the question was answered")}
	}
	q := m.questions[0]
	lines := []line{heading(q.cluster + ": " + q.Text)}
	for _, text := range squeezed(q.Words, m.width-len("  ")) {
		lines = append(lines, sayLine(plain, "  "+text))
	}
	return append(lines, sayLine(faint, "  esc looks at the rest first; a returns here"))
}

// answerQuestion takes a key while a question is asked. Who asked is told beside the
// screen, since that may take a while.
func (m model) answerQuestion(key tea.KeyMsg) (model, tea.Cmd, bool) {
	q := m.questions[0]
	if isAnswer := key.Type == tea.KeyEnter || isText(key); isAnswer && !q.seen.ready() {
		return m, nil, true
	}
	if key.Type == tea.KeyEnter {
		yes, no := q.typed == q.confirm(), q.typed == "n" || q.typed == "no"
		if !yes && !no {
			said := notTheWord(q.typed, q.confirm(), "to allow it, or n")
			q.typed = ""
			m.questions = append([]asking{q}, m.questions[1:]...)
			return m.say(warn, said), nil, true
		}
		m.questions = slices.Clone(m.questions[1:])
		if len(m.questions) == 0 {
			m, _ = m.goBack()
		}
		return m, func() tea.Msg {
			if q.Answer != nil {
				q.Answer(yes)
			}
			return nil
		}, true
	}
	var taken bool
	q.typed, taken = edited(q.typed, key)
	m.questions = append([]asking{q}, m.questions[1:]...)
	return m, nil, taken
}

// isText reports whether a key is for what is typed.
func isText(key tea.KeyMsg) bool {
	_, is := edited("", key)
	return is
}

// readied counts a beat for what is on the screen, so that it can be answered once it was
// there for long enough. On a screen that is too small nothing is.
func (m model) readied() model {
	if m.width < leastWidth || m.height < leastHeight {
		return m
	}
	if m.shows(paneQuestion) && len(m.questions) > 0 && !m.questions[0].seen.ready() {
		m.questions = slices.Clone(m.questions)
		m.questions[0].seen++
	}
	if m.shows(paneWork) && m.work != nil && m.work.phase == deciding && !m.work.seen.ready() {
		w := *m.work
		w.seen++
		m.work = &w
	}
	return m
}

// decisionLine is what is left to type for what is open; nil for nothing.
func (m model) decisionLine() line {
	switch {
	case m.shows(paneQuestion) && len(m.questions) > 0:
		q := m.questions[0]
		return confirmLine(q.seen.ready(), q.confirm(), q.typed, "n refuses it")
	case m.shows(paneWork) && m.work != nil && m.work.phase == deciding && m.work.proposal.Refused == "":
		return confirmLine(m.work.seen.ready(), m.work.proposal.Confirm, m.work.typed, "esc leaves it")
	}
	return nil
}
