package tui

import (
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
)

// prompt is what is being typed in the last line.
type prompt struct {
	kind promptKind
	text string
}

type promptKind int

const (
	promptNone promptKind = iota
	promptFilter
	promptJump
)

func (m model) typing(kind promptKind) model {
	m.prompt = prompt{kind: kind}
	if kind == promptFilter {
		m.prompt.text, m.panes = m.choice.filter, nil
	}
	return m
}

// edited is a text after a key, and whether the key was for it.
func edited(text string, key tea.KeyMsg) (string, bool) {
	switch key.Type {
	case tea.KeyRunes, tea.KeySpace:
		return text + clean(string(key.Runes)), true
	case tea.KeyBackspace, tea.KeyCtrlH:
		_, size := utf8.DecodeLastRuneInString(text)
		return text[:len(text)-size], true
	case tea.KeyCtrlU:
		return "", true
	default:
		return text, false
	}
}

// typeIn takes a key while something is typed.
func (m model) typeIn(key tea.KeyMsg) model {
	switch key.Type {
	case tea.KeyEnter:
		return m.entered()
	case tea.KeyEsc:
		m.prompt.text = ""
	default:
		m.prompt.text, _ = edited(m.prompt.text, key)
	}
	if m.prompt.kind == promptFilter {
		m.choice.filter = m.prompt.text
	}
	if key.Type == tea.KeyEsc {
		m.prompt = prompt{}
	}
	return m
}

func (m model) entered() model {
	p := m.prompt
	m.prompt = prompt{}
	if p.kind != promptJump || strings.TrimSpace(p.text) == "" {
		return m
	}
	places := m.places(p.text)
	if len(places) == 0 {
		return m.say(warn, "there is no view, cluster or process group like "+p.text)
	}
	return places[0].visit(m)
}

func (m model) promptLine() line {
	if m.prompt.kind == promptFilter {
		return line{say(strong, "/"+m.prompt.text+"▏"), say(faint, "  enter keeps it, esc ends it")}
	}
	l := line{say(strong, ":"+m.prompt.text+"▏")}
	var names []string
	for _, p := range m.places(m.prompt.text) {
		names = append(names, p.name)
	}
	return append(l, say(faint, "  enter goes to "), say(plain, strings.Join(names[:min(len(names), 8)], "  ")))
}
