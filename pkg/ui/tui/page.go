package tui

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// page is the content of a view: a summary, a table, and notes below it.
type page struct {
	// summary is the result in one line.
	summary line
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
