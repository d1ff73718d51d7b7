package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
)

// page is the content of a view: a summary, a table, and notes below it.
type page struct {
	// summary is the result, and details what follows it as far as there is room.
	summary line
	details []paint.Clause
	columns []layout.Column
	// others are the columns of further lists below that of columns; row.list is their index, from 1.
	others [][]layout.Column
	rows   []row
	// tall is true for rows of two lines, of which row.above is the upper one.
	tall bool
	// notes are shown below the rows.
	notes []line
	// empty is shown if there are no rows; empty if the summary suffices.
	empty string
}

// fill builds the cells of all rows that have none yet.
func (p page) fill(s clusterView) {
	for i, r := range p.rows {
		if r.build != nil {
			p.rows[i].cells, p.rows[i].build = r.build(s), nil
		}
	}
}

// maxHeadLines is the maximum number of lines of a summary.
const maxHeadLines = 2

// head returns the summary, and as many details as its first line has room for.
func (p page) head(width int) []line {
	clauses := append([]paint.Clause{{Line: p.summary}}, p.details...)
	if widthOf(p.summary.Text()) > width {
		return fitted(clauses[:1], width, maxHeadLines)
	}
	return fitted(clauses, width, 1)
}

// rowHeight returns the number of lines of a row.
func (p page) rowHeight() int {
	if p.tall {
		return 2
	}
	return 1
}

// columnsOf returns the columns of the list of a row.
func (p page) columnsOf(r row) []layout.Column {
	if r.list == 0 {
		return p.columns
	}
	return p.others[r.list-1]
}

// addList adds rows of another list, below its titles.
func (p *page) addList(columns []layout.Column, rows []row) {
	if len(rows) == 0 {
		return
	}
	p.others = append(p.others, columns)
	head := row{list: len(p.others), titles: true}
	for _, c := range columns {
		head.cells = append(head.cells, styled(strong, c.Name))
	}
	p.rows = append(p.rows, head)
	for _, r := range rows {
		r.list = len(p.others)
		p.rows = append(p.rows, r)
	}
}

// view is one of the numbered views.
type view struct {
	// name is short, for the tabs; title describes the content.
	name, title string
	page        func(s clusterView) page
}

// brief returns a shorter name.
func (v view) brief() string {
	if short, found := map[string]string{"exclusions": "excl", "coordinators": "coord", "backups": "backup"}[v.name]; found {
		return short
	}
	return v.name
}

// views returns the views in the order of their number keys, from 1 to 9, then 0.
func views() []view {
	return []view{
		{"groups", "process groups and their conditions", groupsPage},
		{"nodes", "nodes, zones, taints, and their rules", nodesPage},
		{"exclusions", "exclusion progress, and when removal is safe", exclusionsPage},
		{"coordinators", "coordinators, and which are reachable", coordinatorsPage},
		{"plan", "what the next pass would do, what blocks it", planPage},
		{"locks", "the database lock, the Lease and the deny list", locksPage},
		{"events", "Kubernetes events, the newest first", eventsPage},
		{"pass", "the operation, its pass, and runs that ended", passPage},
		{"backups", "backups and restores, and their progress", backupsPage},
		{"load", "the load of the database and its processes", loadPage},
	}
}

// The indexes of views that keys open.
const (
	viewGroups = 0
	viewPass   = 7
)

// items returns the number of rows that are no headlines.
func (p page) items() int {
	n := 0
	for _, r := range p.rows {
		if r.key != "" {
			n++
		}
	}
	return n
}

// has returns the index of the row with a key; -1 for none.
func (p page) has(key string) int {
	for i, r := range p.rows {
		if r.key == key && key != "" {
			return i
		}
	}
	return -1
}

// at returns the row at a position, if there is one that can be selected.
func (p page) at(i int) (row, bool) {
	if i >= len(p.rows) || p.rows[i].key == "" {
		return row{}, false
	}
	return p.rows[i], true
}

// about returns the details of a row; its cells in full if it has none.
func (p page) about(s clusterView, r row) []line {
	if r.more != nil {
		return r.more(s)
	}
	if r.build != nil {
		r.cells = r.build(s)
	}
	var lines []line
	for i, c := range p.columnsOf(r) {
		if i < len(r.cells) && c.Name != " " {
			lines = append(lines, factIn(r.cells[i].Tone, strings.ToLower(c.Name), r.cells[i].Text))
		}
	}
	return lines
}

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
