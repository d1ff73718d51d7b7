package tui

import tea "github.com/charmbracelet/bubbletea"

// asking is a question that waits for a person.
type asking struct {
	Question
	cluster string
	typed   string
	// work is the action that asks, and with which the question ends; 0 for none.
	work int
}

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
	for _, text := range q.Words {
		lines = append(lines, sayLine(plain, "  "+text))
	}
	return append(lines, sayLine(faint, "  esc looks at the rest first; a returns here"))
}

// answerQuestion takes a key while a question is asked. Who asked is told beside the
// screen, since that may take a while.
func (m model) answerQuestion(key tea.KeyMsg) (model, tea.Cmd, bool) {
	q := m.questions[0]
	if key.Type == tea.KeyEnter {
		yes, no := q.typed == q.confirm(), q.typed == "n" || q.typed == "no"
		if !yes && !no {
			return m.say(warn, "type "+q.confirm()+" to allow it, or n"), nil, true
		}
		m.questions = m.questions[1:]
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
