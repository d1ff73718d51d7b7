package tui

import (
	"fmt"
	"slices"
)

// cursor is the selected row of a view: the first until the user moves it. After that it
// follows the object, not the position: rows can change their order with every frame.
type cursor struct {
	key string
	// moved is true once the user selected a row.
	moved bool
	// at is the last position of the key, top the first row that is shown.
	at, top int
}

// on returns the cursor for these rows, of which height can be shown.
func (c cursor) on(rows []row, height int) cursor {
	if at := (page{rows: rows}).has(c.key); at >= 0 && c.moved {
		c.at = at
	} else if !c.moved {
		c.at = 0
	}
	return c.choose(rows, c.at, 1).shown(len(rows), height)
}

// choose moves the cursor to a row, or to the next one in a direction that is no headline.
func (c cursor) choose(rows []row, at, direction int) cursor {
	at = min(max(0, at), len(rows)-1)
	for _, step := range []int{direction, -direction} {
		for i := at; i >= 0 && i < len(rows); i += step {
			if rows[i].key != "" {
				c.at, c.key = i, rows[i].key
				return c
			}
		}
	}
	c.at, c.key = 0, ""
	return c
}

// shown scrolls so that the selected row is visible, with the headline above it.
func (c cursor) shown(rows, height int) cursor {
	height = max(1, height)
	c.top = min(c.top, max(0, c.at-1))
	c.top = max(c.top, c.at-height+1)
	c.top = min(max(0, c.top), max(0, rows-height))
	return c
}

// clamped returns the model with its cursor on an existing row, and its text not scrolled past
// the end.
func (m model) clamped() model {
	if m.width <= 0 || m.height <= 0 {
		return m
	}
	cursors := slices.Clone(m.cursors)
	p := m.page(m.clusterView())
	cursors[m.view] = cursors[m.view].on(p.rows, m.rowsOf(p))
	m.cursors = cursors
	if n := len(m.panes); n > 0 {
		panes := slices.Clone(m.panes)
		panes[n-1].top = min(max(0, panes[n-1].top), max(0, len(m.paneLines(m.clusterView(), panes[n-1]))-m.bodyHeight()))
		m.panes = panes
	}
	return m
}

// page returns the current view with its selected rows, whose cells may have to be filled.
func (m model) page(s clusterView) page {
	p := m.views[m.view].page(s)
	if m.sorts[m.view].column != "" || s.choice.filter != "" {
		p.fill(s) // cells are compared
	}
	p = p.sorted(s, m.sorts[m.view])
	all := p.items()
	p.rows = s.choice.keep(p.rows)
	if all > 0 && len(p.rows) == 0 {
		p.empty = "no matching rows; esc shows all"
	}
	if matching := p.items(); matching < all {
		p.summary = append(line{styled(warn, fmt.Sprintf("%d of %d match · ", matching, all))}, p.summary...)
	}
	return p
}

// chosenRow returns the row that keys apply to.
func (m model) chosenRow() (row, bool) {
	return m.page(m.clusterView()).at(m.cursors[m.view].at)
}

// chosenGroup returns the process group that keys apply to: that of the open pane, or of the
// row.
func (m model) chosenGroup() string {
	if n := len(m.panes); n > 0 && m.panes[n-1].group != "" {
		return m.panes[n-1].group
	}
	r, _ := m.chosenRow()
	return r.group
}

func (m model) chosenNode() string {
	if g, found := m.clusterView().group(m.chosenGroup()); found {
		return g.Node
	}
	r, _ := m.chosenRow()
	return r.node
}

// move moves the cursor, or scrolls the open text.
func (m model) move(by int) model {
	if n := len(m.panes); n > 0 {
		m.panes = slices.Clone(m.panes)
		m.panes[n-1].top += by
		if m.shows(paneOutput) { // G follows again
			m.output.follows = by >= 1<<20
		}
		return m
	}
	rows := m.page(m.clusterView()).rows
	direction := 1
	if by < 0 {
		direction = -1
	}
	m.cursors = slices.Clone(m.cursors)
	c := m.cursors[m.view].choose(rows, m.cursors[m.view].at+by, direction)
	c.moved = true
	m.cursors[m.view] = c
	return m
}
