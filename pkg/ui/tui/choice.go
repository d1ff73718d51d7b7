package tui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// choice is the user's selection of rows and their order.
type choice struct {
	// filter selects rows by what filterOf makes of it.
	filter string
	// problem selects rows with problems, and those that are unknown.
	problem bool
	by      grouping
	// noMap hides the map of process groups.
	noMap bool
}

// grouping is the key by which process groups are grouped.
type grouping int

const (
	byNothing grouping = iota
	byZone
	byTheirClass
	groupings
)

var groupingNames = [groupings]string{"", "zone", "class"}

// of returns the value of the key for a process group.
func (g grouping) of(v inspect.GroupView) string {
	switch g {
	case byZone:
		return phrase.Or(v.Zone, phrase.UnknownCell)
	case byTheirClass:
		return v.Class
	default:
		return ""
	}
}

// sorted returns process groups in the selected order.
func (c choice) sorted(groups []inspect.GroupView) []inspect.GroupRow {
	rows := inspect.WorstGroupsFirst(groups)
	if c.by != byNothing {
		slices.SortStableFunc(rows, func(a, b inspect.GroupRow) int { return cmp.Compare(c.by.of(*a.GroupView), c.by.of(*b.GroupView)) })
	}
	return rows
}

// sorting is the order of the rows of a view: by a column, or as the view has them.
type sorting struct {
	// column is its title; empty for the order of the view.
	column  string
	reverse bool
}

// nextColumn orders the rows of the view by its next column, and after the last as the view does.
func (m model) nextColumn() model {
	columns := m.views[m.view].page(m.clusterView()).columns
	titles := []string{""}
	for _, c := range columns {
		if strings.TrimSpace(c.Name) != "" {
			titles = append(titles, c.Name)
		}
	}
	at := slices.Index(titles, m.sorts[m.view].column)
	m.sorts = slices.Clone(m.sorts)
	m.sorts[m.view] = sorting{column: titles[(at+1)%len(titles)]}
	return m
}

func (m model) reverseOrder() model {
	if m.sorts[m.view].column == "" {
		return m.notify(plain, "o orders by a column first")
	}
	m.sorts = slices.Clone(m.sorts)
	m.sorts[m.view].reverse = !m.sorts[m.view].reverse
	return m
}

// sorted returns a page in an order. Rows stay below their headline.
func (p page) sorted(s clusterView, by sorting) page {
	at := slices.IndexFunc(p.columns, func(c layout.Column) bool { return c.Name == by.column })
	if by.column == "" || at < 0 {
		return p
	}
	sign, mark := 1, "↑"
	if by.reverse {
		sign, mark = -1, "↓"
	}
	p.columns, p.rows = slices.Clone(p.columns), slices.Clone(p.rows)
	p.columns[at].Name += mark
	for begin := 0; begin < len(p.rows); {
		end := begin + 1
		for end < len(p.rows) && p.rows[end].key != "" {
			end++
		}
		part := p.rows[begin:end]
		if part[0].key == "" {
			part = part[1:]
		}
		if len(part) > 0 && part[0].list > 0 { // it has other columns
			break
		}
		slices.SortStableFunc(part, func(a, b row) int { return sign * compareCells(s, a, b, at, by.column) })
		begin = end
	}
	return p
}

// compareCells orders two rows by a column: by its number if the rows have one, else by its text.
func compareCells(s clusterView, a, b row, at int, column string) int {
	x, y := a.numberOf(s, column), b.numberOf(s, column)
	switch {
	case x != nil && y != nil:
		return cmp.Compare(*x, *y)
	case x != nil:
		return -1
	case y != nil:
		return 1
	}
	first, n := inspect.Numbered(a.cell(at))
	second, m := inspect.Numbered(b.cell(at))
	return cmp.Or(cmp.Compare(first, second), cmp.Compare(n, m))
}

// keep returns the selected rows. A headline is kept if any of its rows is.
func (c choice) keep(rows []row) []row {
	if c.filter == "" && !c.problem {
		return rows
	}
	var kept []row
	headline, filter := -1, filterOf(c.filter)
	for i, r := range rows {
		switch {
		case r.key == "":
			headline = i
		case (!c.problem || r.tone >= unsure) && filter.selects(r.texts()...):
			if headline >= 0 {
				kept, headline = append(kept, rows[headline]), -1
			}
			kept = append(kept, r)
		}
	}
	return kept
}

// texts are what a filter of rows applies to.
func (r row) texts() []string {
	texts := []string{r.key}
	for _, c := range r.cells {
		texts = append(texts, c.Text)
	}
	return texts
}
