package tui

import (
	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
)

// copyID copies the ID of the selected row through the terminal, and displays it, since not
// every terminal supports that.
func (m model) copyID() (model, tea.Cmd) {
	id := m.chosenGroup()
	if r, chosen := m.chosenRow(); id == "" && chosen {
		id = r.key
	}
	if id == "" {
		return m.notify(plain, "nothing to copy"), nil
	}
	out := m.o.Out
	return m.notify(good, "copied, if the terminal supports it: "+id), func() tea.Msg {
		termenv.NewOutput(out, termenv.WithProfile(termenv.Ascii)).Copy(id)
		return nil
	}
}
