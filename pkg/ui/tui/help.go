package tui

import "github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"

// keyWidth is the column of keys in help.
const keyWidth = 12

// help lists every key, from the list by which keys are dispatched.
func (m model) help() []line {
	var lines []line
	for _, section := range sections() {
		head := heading(section)
		if section == sectionAct && m.o.Actions == nil {
			head = append(head, styled(warn, "  "+m.readOnly()))
		}
		lines = append(lines, head)
		for _, b := range m.keys {
			if b.section == section {
				lines = append(lines, line{styled(strong, "  "+fit(b.show, keyWidth)), styled(plain, b.does)})
			}
		}
	}
	lines = append(lines, heading("Symbols"))
	for _, sign := range [][2]string{
		{markGood, "healthy"},
		{markWarn, "needs attention, or resolves with time"},
		{markBad, "failed or blocked"},
		{phrase.UnknownCell, "unknown"},
		{phrase.Nothing, "none"},
		{"*", "in a plan: reevaluated after earlier stages"},
	} {
		lines = append(lines, line{styled(strong, "  "+fit(sign[0], keyWidth)), styled(plain, sign[1])})
	}
	return lines
}

// readOnly is the notice for an action key without actions.
func (m model) readOnly() string {
	if m.o.AllowFlag == "" {
		return "read-only"
	}
	return "read-only; " + m.o.AllowFlag + " enables actions"
}
