package tui

import "slices"

// cursor is which row of a view is chosen: the first until somebody moves it. From then on
// it follows the thing, not the place: rows change their order with every look.
type cursor struct {
	key string
	// moved is whether somebody chose the row.
	moved bool
	// at is the row when the key was seen last, top the first row that is shown.
	at, top int
}

// on is the cursor over these rows, of which height can be shown.
func (c cursor) on(rows []row, height int) cursor {
	if at := (page{rows: rows}).has(c.key); at >= 0 && c.moved {
		c.at = at
	} else if !c.moved {
		c.at = 0
	}
	return c.choose(rows, c.at, 1).shown(len(rows), height)
}

// choose puts the cursor on a row, or on the next one in a direction that is no headline.
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

// shown moves what is shown so that the chosen row is in it, with the headline above it.
func (c cursor) shown(rows, height int) cursor {
	height = max(1, height)
	c.top = min(c.top, max(0, c.at-1))
	c.top = max(c.top, c.at-height+1)
	c.top = min(max(0, c.top), max(0, rows-height))
	return c
}

// settled is the model with its cursor on a row that is there, and its text not past its
// end.
func (m model) settled() model {
	if m.width <= 0 || m.height <= 0 {
		return m
	}
	cursors := slices.Clone(m.cursors)
	p := m.page(m.sight())
	cursors[m.view] = cursors[m.view].on(p.rows, m.rowsOf(p))
	m.cursors = cursors
	if n := len(m.panes); n > 0 {
		panes := slices.Clone(m.panes)
		panes[n-1].top = min(max(0, panes[n-1].top), max(0, len(m.paneLines(m.sight(), panes[n-1]))-m.bodyHeight()))
		m.panes = panes
	}
	return m
}

// page is the view that is shown, with the rows that people want to see.
func (m model) page(s sight) page {
	p := m.views[m.view].page(s)
	all := len(p.rows)
	p.rows = s.choice.keep(p.rows)
	if all > 0 && len(p.rows) == 0 {
		p.empty = "no row of this view is like that; esc shows all"
	}
	return p
}

// chosenRow is the row that keys are about.
func (m model) chosenRow() (row, bool) {
	rows := m.page(m.sight()).rows
	at := m.cursors[m.view].at
	if at >= len(rows) || rows[at].key == "" {
		return row{}, false
	}
	return rows[at], true
}

// chosenGroup is the process group that keys are about: that of what is open, or of the
// row.
func (m model) chosenGroup() string {
	if n := len(m.panes); n > 0 && m.panes[n-1].group != "" {
		return m.panes[n-1].group
	}
	r, _ := m.chosenRow()
	return r.group
}

func (m model) chosenNode() string {
	if g, found := m.sight().group(m.chosenGroup()); found {
		return g.Node
	}
	r, _ := m.chosenRow()
	return r.node
}

// move moves the cursor, or the text that is open.
func (m model) move(by int) model {
	if n := len(m.panes); n > 0 {
		m.panes = slices.Clone(m.panes)
		m.panes[n-1].top += by
		return m
	}
	rows := m.page(m.sight()).rows
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
