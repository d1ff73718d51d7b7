package tui

import (
	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
)

// copyID has the terminal copy the ID of what is chosen, and shows it: not every terminal
// does so.
func (m model) copyID() (model, tea.Cmd) {
	id := m.chosenGroup()
	if r, chosen := m.chosenRow(); id == "" && chosen {
		id = r.key
	}
	if id == "" {
		return m.say(plain, "there is nothing to copy"), nil
	}
	out := m.o.Out
	return m.say(good, "copied, where the terminal allows it: "+id), func() tea.Msg {
		termenv.NewOutput(out, termenv.WithProfile(termenv.Ascii)).Copy(id)
		return nil
	}
}
