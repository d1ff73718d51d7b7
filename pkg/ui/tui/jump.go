package tui

import (
	"slices"
	"strings"
)

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
	for i, v := range m.views {
		all = append(all, jumpTarget{v.name, func(m model) model { return m.to(i) }})
	}
	for i, name := range m.o.Clusters {
		all = append(all, jumpTarget{name, func(m model) model { return m.toCluster(i) }})
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
	m.choice.filter, m.choice.trouble = "", false
	m.cursors = slices.Clone(m.cursors)
	m.cursors[viewGroups].key, m.cursors[viewGroups].moved = id, true
	return m.open(pane{kind: paneRow, row: id, group: id})
}
