package tui

import "strings"

// page is what a view shows: a sentence, a table, and notes below it.
type page struct {
	// says is the view's answer in one line.
	says    line
	columns []column
	rows    []row
	// notes are what has to be known beside the rows.
	notes []line
	// empty is what to say when there are no rows; nothing where says does it.
	empty string
}

// view is one of the numbered views.
type view struct {
	// name is short, for the line of tabs; title says what is in it.
	name, title string
	page        func(s sight) page
}

// brief is the name in fewer letters.
func (v view) brief() string {
	if short, found := map[string]string{"exclusions": "excl", "coordinators": "coord"}[v.name]; found {
		return short
	}
	return v.name
}

// views are the views by their number keys, from 1.
func views() []view {
	return []view{
		{"groups", "process groups, their conditions and for how long", groupsPage},
		{"nodes", "nodes and zones, taints, and what follows when", nodesPage},
		{"exclusions", "what is excluded, how far it is, when it can be removed", exclusionsPage},
		{"coordinators", "coordinators, who answers, who is about to leave", coordinatorsPage},
		{"plan", "what the next pass would do, and what holds it", planPage},
		{"locks", "who may act on the database, for how long", locksPage},
		{"events", "what Kubernetes tells, the newest first", eventsPage},
		{"pass", "the pass that runs or ran last, step by step", passPage},
		{"backups", "backups, what could be restored, and how far restores are", backupsPage},
	}
}

// The numbers of views that keys lead to, less one.
const (
	viewGroups = 0
	viewPass   = 7
)

// has reports which row has a key; -1 for none.
func (p page) has(key string) int {
	for i, r := range p.rows {
		if r.key == key && key != "" {
			return i
		}
	}
	return -1
}

// about is all there is to say of a row; its cells in full where there is no more.
func (p page) about(s sight, r row) []line {
	if r.more != nil {
		return r.more(s)
	}
	var lines []line
	for i, c := range p.columns {
		if i < len(r.cells) && c.title != " " {
			lines = append(lines, factIn(r.cells[i].tone, strings.ToLower(c.title), r.cells[i].text))
		}
	}
	return lines
}
