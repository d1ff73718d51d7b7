package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/cells"
)

// prompt is the input in the last line.
type prompt struct {
	kind promptKind
	text string
	// from is the first line that was shown when a search began.
	from int
}

type promptKind int

const (
	promptNone promptKind = iota
	promptFilter
	promptJump
	promptSearch
)

func (m model) typing(kind promptKind) model {
	m.prompt = prompt{kind: kind}
	if kind == promptFilter && m.shows(paneOutput) {
		m.prompt = prompt{kind: promptSearch, text: m.output.search, from: m.panes[len(m.panes)-1].top}
		return m
	}
	if kind == promptFilter {
		m.prompt.text, m.panes = m.choice.filter, nil
	}
	return m
}

// edited returns a text after a key, and whether the key edits text.
func edited(text string, key tea.KeyMsg) (string, bool) {
	switch key.Type {
	case tea.KeyRunes, tea.KeySpace:
		return text + cells.Clean(string(key.Runes)), true
	case tea.KeyBackspace, tea.KeyCtrlH:
		_, size := utf8.DecodeLastRuneInString(text)
		return text[:len(text)-size], true
	case tea.KeyCtrlU:
		return "", true
	default:
		return text, false
	}
}

// typeIn handles a key while a prompt is open.
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
	if m.prompt.kind == promptSearch && m.shows(paneOutput) && m.prompt.text != m.output.search {
		m = m.searched(m.prompt.text)
	}
	if key.Type == tea.KeyEsc {
		m.prompt, m.notice = prompt{}, notice{}
	}
	return m
}

func (m model) entered() model {
	p := m.prompt
	m.prompt = prompt{}
	if p.kind != promptJump || strings.TrimSpace(p.text) == "" {
		return m
	}
	targets := m.jumpTargets(p.text)
	if len(targets) == 0 {
		return m.notify(warn, "no view, cluster or process group matches "+p.text)
	}
	return targets[0].visit(m)
}

func (m model) promptLine() line {
	if m.prompt.kind != promptJump {
		rules := map[promptKind]string{
			promptFilter: "  a regular expression, ! excludes; enter applies it, esc clears it",
			promptSearch: "  a regular expression, ! leaves lines out; enter keeps it for n and N, esc clears it",
		}[m.prompt.kind]
		return line{styled(strong, "/"+m.prompt.text+"▏"), styled(faint, rules)}
	}
	l := line{styled(strong, ":"+m.prompt.text+"▏")}
	var names []string
	for _, p := range m.jumpTargets(m.prompt.text) {
		names = append(names, p.name)
	}
	return append(l, styled(faint, "  enter goes to "), styled(plain, strings.Join(names[:min(len(names), 8)], "  ")))
}

// jumpTarget is a view, cluster or process group that can be opened by name.
type jumpTarget struct {
	name  string
	visit func(m model) model
}

// jumpTargets returns the targets that match a text: those with this name, then those that
// begin with it, then those that contain it.
func (m model) jumpTargets(text string) []jumpTarget {
	text = strings.ToLower(strings.TrimSpace(text))
	var equal, begin, have []jumpTarget
	for _, p := range m.allJumpTargets() {
		switch name := strings.ToLower(p.name); {
		case name == text:
			equal = append(equal, p)
		case strings.HasPrefix(name, text):
			begin = append(begin, p)
		case strings.Contains(name, text):
			have = append(have, p)
		}
	}
	return slices.Concat(equal, begin, have)
}

func (m model) allJumpTargets() []jumpTarget {
	var all []jumpTarget
	for i, v := range views() {
		all = append(all, jumpTarget{v.name, func(m model) model { return m.to(i) }})
	}
	for i, name := range m.o.Clusters {
		all = append(all, jumpTarget{name, func(m model) model { return m.toCluster(i) }})
	}
	if m.inFleet() {
		return all[len(views()):]
	}
	s := m.clusterView()
	for _, g := range s.snapshot().Groups.Items {
		visit := func(m model) model { return m.toGroup(g.ID) }
		all = append(all, jumpTarget{g.ID, visit})
		if g.Pod != "" {
			all = append(all, jumpTarget{g.Pod, visit})
		}
	}
	return all
}

// toGroup opens the details of a process group, whatever the filter of the view.
func (m model) toGroup(id string) model {
	m = m.to(viewGroups)
	m.choice.filter, m.choice.problem = "", false
	m.cursors = slices.Clone(m.cursors)
	m.cursors[viewGroups].key, m.cursors[viewGroups].moved = id, true
	return m.open(pane{kind: paneRow, row: id, group: id})
}
