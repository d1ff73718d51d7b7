package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/panes"
)

// drawnMap is the map of a frame in a width: it is drawn once.
type drawnMap struct {
	frame *frame.Frame
	width int
	lines []line
}

// of returns the map of a frame, with a blank line below it unless titles of panes follow.
func (d *drawnMap) of(f *frame.Frame, o *Options, width int) []line {
	if d.frame == f && d.width == width {
		return d.lines
	}
	d.frame, d.width, d.lines = f, width, nil
	for _, spans := range ui.MapLines(inspect.NewMap(f.Groups.Items, f.Nodes.Items), ui.Paint{ASCII: o.ASCII}, width) {
		var l line
		for _, s := range spans {
			l = append(l, styled(s.Tone, s.Text))
		}
		d.lines = append(d.lines, l)
	}
	if panes.Of(width).Side == 0 {
		d.lines = append(d.lines, line{})
	}
	return d.lines
}

// leastListed is how many lines the list of process groups keeps below a map, unless it needs fewer.
const leastListed = 18

// mapLines returns the map above the list of process groups; nil where it is not shown, or has no room.
func (m model) mapLines(s clusterView) []line {
	if m.view != viewGroups || len(m.panes) > 0 || m.choice.noMap || !m.mapFits(s) {
		return nil
	}
	return m.drawnMap.of(s.frame, &m.o, m.width)
}

// mapFits reports whether there is room for a map and for the list below it.
func (m model) mapFits(s clusterView) bool {
	if s.frame == nil || len(s.frame.Groups.Items) == 0 || m.width < fullWidth || m.height < fullHeight {
		return false
	}
	const titles = 2
	return m.roomForPage(s)-len(m.drawnMap.of(s.frame, &m.o, m.width)) >= min(leastListed, titles+len(s.frame.Groups.Items))
}

// toggleMap shows or hides the map.
func (m model) toggleMap() (model, tea.Cmd) {
	if m.view != viewGroups {
		return m.notify(plain, "the map is above the process groups, view 1"), nil
	}
	m.choice.noMap = !m.choice.noMap
	s := m.clusterView()
	if !m.choice.noMap && s.frame != nil && !m.mapFits(s) {
		return m.notify(plain, "the map needs a larger terminal; "+m.o.fdb("status", m.name(), "--map")+" prints it"), nil
	}
	return m, nil
}
