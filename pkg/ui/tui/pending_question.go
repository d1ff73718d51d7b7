package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/cells"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// pendingQuestion is a question that waits for the user.
type pendingQuestion struct {
	Question
	cluster string
	typed   string
	// seen is how long it has been displayed: what the user typed just before was meant for
	// something else, and is no answer.
	seen tickCount
	// work is the action with the question, which ends with it; 0 for none.
	work int
}

// tickCount is the number of ticks for which something has been displayed.
type tickCount int

// ready reports whether it has been displayed for a whole tick. The first tick may come before
// the first frame with it was drawn; between two ticks a frame is always drawn.
func (b tickCount) ready() bool { return b > 1 }

func (a pendingQuestion) confirm() string {
	if a.Confirm == "" {
		return "y"
	}
	return a.Confirm
}

func (m model) questionText() []line {
	if len(m.questions) == 0 {
		return []line{styledLine(plain, "the question was answered")}
	}
	q := m.questions[0]
	lines := []line{heading(q.cluster + ": " + q.Text)}
	for _, text := range cells.Squeezed(q.Words, m.width-len(indent)) {
		lines = append(lines, styledLine(plain, indent+text))
	}
	if q.Plan != nil {
		lines = append(lines, planText(*q.Plan, m.width)...)
	}
	return append(lines, styledLine(faint, "  esc goes back without an answer; a returns here"))
}

// answerQuestion handles a key while a question is open. The answer is sent in the background,
// since that may block.
func (m model) answerQuestion(key tea.KeyMsg) (model, tea.Cmd, bool) {
	q := m.questions[0]
	if isAnswer := key.Type == tea.KeyEnter || isText(key); isAnswer && !q.seen.ready() {
		return m, nil, true
	}
	if key.Type == tea.KeyEnter {
		yes, no := q.typed == q.confirm(), q.typed == "n" || q.typed == "no"
		if !yes && !no {
			text := wrongAnswer(q.typed, q.confirm(), "to approve, or n")
			q.typed = ""
			m.questions = append([]pendingQuestion{q}, m.questions[1:]...)
			return m.notify(warn, text), nil, true
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
	m.questions = append([]pendingQuestion{q}, m.questions[1:]...)
	return m, nil, taken
}

// isText reports whether a key edits a text.
func isText(key tea.KeyMsg) bool {
	_, is := edited("", key)
	return is
}

// countTick counts a tick for the displayed question or proposal, which can be answered once
// it was displayed for long enough. Nothing is displayed on a terminal that is too small.
func (m model) countTick() model {
	if m.width < minWidth || m.height < minHeight {
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

// decisionLine returns the prompt for the open question or proposal; nil for none.
func (m model) decisionLine() line {
	switch {
	case m.shows(paneQuestion) && len(m.questions) > 0:
		q := m.questions[0]
		return confirmLine(q.seen, q.confirm(), q.typed, "n refuses")
	case m.shows(paneWork) && m.work != nil && m.work.phase == deciding && m.work.proposal.Refused == "":
		return confirmLine(m.work.seen, m.work.proposal.Confirm, m.work.typed, "esc cancels")
	}
	return nil
}

// indent is that of text in a pane.
const indent = "  "

// planText returns a plan as the command prints it.
func planText(v planned.PlanView, width int) []line {
	return reportLines(ui.PlanLines(v, width-len(indent)))
}

// proposalLines returns what a command would do, as the command itself prints it.
func proposalLines(p Proposal, width int) []line {
	var lines []line
	if p.Plan != nil {
		lines = append(lines, planText(*p.Plan, width)...)
	}
	for _, text := range cells.Squeezed(p.Words, width-len(indent)) {
		lines = append(lines, styledLine(plain, indent+text))
	}
	if p.CommandLine != "" {
		lines = append(lines, heading("Equivalent command"), styledLine(paint.Command, "  "+p.CommandLine))
	}
	return lines
}

// confirmLine returns the confirmation prompt for the last line, where it is visible however
// long the plan is.
func confirmLine(seen tickCount, confirm, typed, leave string) line {
	if !seen.ready() {
		return line{styled(faint, "Read this first; esc goes back")}
	}
	if confirm == "" {
		return line{styled(strong, "Go ahead?"), styled(plain, " press enter, "+leave)}
	}
	return line{styled(strong, "Go ahead?"), styled(plain, " type "), styled(strong, confirm), styled(plain, " and press enter, "+leave+": "), styled(strong, typed+"▏")}
}

// progress returns the stages of passes since a time that acted or could not.
func (s clusterView) progress(since time.Time) []line {
	p := s.pass
	if p.Number == 0 || (!p.Ended.IsZero() && p.Ended.Before(since)) {
		return nil
	}
	lines := []line{heading("Progress"), append(line{styled(plain, "  ")}, s.passSummary()...)}
	for _, st := range p.Stages {
		for _, a := range st.Actions {
			t, text := good, a.Summary
			if a.Failure != "" {
				t, text = bad, a.Summary+": "+a.Failure
			} else if a.Ended.IsZero() {
				t, text = warn, a.Summary+", for "+s.lastingSince(a.Started)
			}
			lines = append(lines, line{styled(t, "  "+t.Mark()+" "), styled(plain, string(st.Name)+"  "), styled(plain, text)})
		}
		if st.Reason != "" && st.Outcome != "done" && st.Outcome != "changed" {
			t := toneOfOutcome(st.Outcome)
			lines = append(lines, line{styled(t, "  "+t.Mark()+" "), styled(plain, string(st.Name)+"  "), styled(t, st.Outcome+": "+st.Reason)})
		}
	}
	return lines
}
