package tui

import (
	"context"
	"fmt"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/picture"
)

// namedKeys are the keys that are no characters, by the names that the terminal library has for them.
var namedKeys = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "backspace": tea.KeyBackspace,
	"pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "ctrl+c": tea.KeyCtrlC, "ctrl+x": tea.KeyCtrlX, "ctrl+r": tea.KeyCtrlR, "home": tea.KeyHome, "end": tea.KeyEnd,
	"space": tea.KeySpace,
}

// keyOf returns the key of a name: a character, or one of namedKeys.
func keyOf(name string) (key tea.KeyMsg, known bool) {
	if special, is := namedKeys[name]; is {
		return tea.KeyMsg{Type: special}, true
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}, utf8.RuneCountInString(name) == 1
}

// Shots returns what a replay shows of its first cluster at each moment of the recording, in a size and after keys, which are
// pressed at its last moment. An unknown key is an error.
func Shots(o Options, width, height int, keys []string) ([]picture.Shot, error) {
	m := newModel(o, &taskRunner{ctx: context.Background(), send: func(tea.Msg) {}})
	m.playing = true // it does not stop at its end
	m = m.updated(tea.WindowSizeMsg{Width: width, Height: height})
	states := m.history().states
	m.back = len(states) - 1
	for _, name := range keys {
		key, known := keyOf(name)
		if !known {
			return nil, fmt.Errorf("unknown key %q: must be a character or a name such as enter, tab or down", name)
		}
		m = m.updated(key)
	}
	var all []picture.Shot
	for i, s := range m.history().states {
		m.back, m.notice = i, notice{}
		m = m.updated(nil)
		all = append(all, picture.Shot{At: s.at, Screen: m.View()})
	}
	return all, nil
}

// updated applies a message, and runs nothing.
func (m model) updated(msg tea.Msg) model {
	next, _ := m.Update(msg)
	return next.(model)
}
