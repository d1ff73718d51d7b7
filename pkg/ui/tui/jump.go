package tui

import (
	"slices"
	"strings"
)

// place is where one can go by its name.
type place struct {
	name  string
	visit func(m model) model
}

// places are the places whose names are like a text, the likest first: those with this
// name, those that begin with it, those that have it in them.
func (m model) places(text string) []place {
	text = strings.ToLower(strings.TrimSpace(text))
	var equal, begin, have []place
	for _, p := range m.allPlaces() {
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

func (m model) allPlaces() []place {
	var all []place
	for i, v := range m.views {
		all = append(all, place{v.name, func(m model) model { return m.to(i) }})
	}
	for i, name := range m.o.Clusters {
		all = append(all, place{name, func(m model) model { return m.toCluster(i) }})
	}
	s := m.sight()
	for _, g := range s.look().Groups.Items {
		visit := func(m model) model { return m.toGroup(g.ID) }
		all = append(all, place{g.ID, visit})
		if g.Pod != "" {
			all = append(all, place{g.Pod, visit})
		}
	}
	return all
}

// toGroup opens all about a process group, whatever is left out of the view.
func (m model) toGroup(id string) model {
	m = m.to(viewGroups)
	m.choice.filter, m.choice.trouble = "", false
	m.cursors = slices.Clone(m.cursors)
	m.cursors[viewGroups].key, m.cursors[viewGroups].moved = id, true
	return m.open(pane{kind: paneRow, row: id, group: id})
}
