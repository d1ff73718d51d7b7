package tui

import "github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"

// keyWidth is the column of keys in help.
const keyWidth = 12

// help lists every key, from the list that keys are dispatched by.
func (m model) help() []line {
	var lines []line
	for _, section := range sections() {
		head := heading(section)
		if section == sectionAct && m.o.Actions == nil {
			head = append(head, say(warn, "  "+m.readOnly()))
		}
		lines = append(lines, head)
		for _, b := range m.keys {
			if b.section == section {
				lines = append(lines, line{say(strong, "  "+fit(b.show, keyWidth)), say(plain, b.does)})
			}
		}
	}
	lines = append(lines, heading("Signs"))
	for _, sign := range [][2]string{
		{markGood, "as it should be"},
		{markWarn, "needs attention, or will go away with time"},
		{markBad, "needs somebody"},
		{phrase.UnknownCell, "nobody told"},
		{phrase.Nothing, "nothing there"},
		{"*", "in a plan: decided again after earlier steps"},
	} {
		lines = append(lines, line{say(strong, "  "+fit(sign[0], keyWidth)), say(plain, sign[1])})
	}
	return lines
}

// readOnly is what to say to who presses a key that acts.
func (m model) readOnly() string {
	if m.o.AllowFlag == "" {
		return "keys change nothing here"
	}
	return "keys change nothing here; " + m.o.AllowFlag + " lets them act"
}
