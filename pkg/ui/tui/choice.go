package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/paint"
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
		stable.Sort(rows, func(a, b inspect.GroupRow) int { return cmp.Compare(c.by.of(*a.GroupView), c.by.of(*b.GroupView)) })
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
		stable.Sort(part, func(a, b row) int { return sign * compareCells(s, a, b, at, by.column) })
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

// tally counts rows by how bad they are.
type tally struct {
	all, wrong, unknown int
	// onNodes are those of wrong that are process groups on a node that is not ready.
	onNodes int
	worst   tone
}

func (t *tally) add(of tone) {
	t.all++
	t.worst = max(t.worst, of)
	switch {
	case of >= warn:
		t.wrong++
	case of == unsure:
		t.unknown++
	}
}

func (t *tally) addGroup(g inspect.GroupRow) {
	t.add(g.Tone)
	if g.NodeProblem != "" {
		t.onNodes++
	}
}

// words returns the counts after that of all rows. Beside unknown rows, and without any, nothing is known to have no problem.
func (t tally) words() line {
	var l line
	add := func(of tone, n int, words string) {
		separator := ", "
		if l == nil && t.onNodes > 0 {
			separator = ": "
		}
		l = append(l, styled(plain, separator), styled(of, fmt.Sprintf("%d %s", n, words)))
	}
	if t.onNodes > 0 {
		add(t.worst, t.onNodes, "on nodes that are not ready")
	}
	if more := t.wrong - t.onNodes; more > 0 && t.onNodes > 0 {
		add(max(warn, t.worst), more, "more with problems")
	} else if more > 0 {
		add(max(warn, t.worst), more, "with problems")
	}
	if t.unknown > 0 {
		add(warn, t.unknown, "unknown")
	}
	if l == nil && t.all > 0 {
		return line{styled(plain, ", "), styled(good, "0 with problems")}
	}
	return l
}

// groupsPage shows which process groups have problems, and for how long.
func groupsPage(s clusterView) page {
	groups := s.choice.sorted(s.snapshot().Groups.Items)
	p := page{empty: "no process groups in the status", columns: titles(inspect.GroupColumns)}
	last := "\x00"
	for _, g := range groups {
		if head := s.choice.by.of(*g.GroupView); s.choice.by != byNothing && head != last {
			p.rows = append(p.rows, row{cells: s.headline(head, groups)})
			last = head
		}
		p.rows = append(p.rows, groupRow(g))
	}
	p.summary, p.details = s.groupsSummary(groups), s.groupsDetails(groups)
	return p
}

// groupsSummary counts process groups.
func (s clusterView) groupsSummary(groups []inspect.GroupRow) line {
	if len(groups) == 0 && s.isUnread() {
		return styledLine(warn, markUnknown+" process groups unknown")
	}
	return append(styledLine(plain, phrase.Count(len(groups), "process group")), tallyOf(groups).words()...)
}

// groupsDetails returns how old the rows are, how many process groups there should be, and their order.
func (s clusterView) groupsDetails(groups []inspect.GroupRow) []paint.Clause {
	v := s.snapshot().Status.ProcessGroups
	var details []paint.Clause
	if v.Source == inspect.SourceResource {
		details = append(details, paint.Clause{Line: styledLine(warn, markWarn+" conditions of "+s.age(v.AsOf)+" ago"), Drop: 1})
	}
	details = append(details, s.lastReported(groups)...)
	if v.Removing > 0 {
		details = append(details, paint.Clause{Line: styledLine(plain, fmt.Sprintf("%d marked for removal", v.Removing)), Drop: 3})
	}
	if len(groups) > 0 || !s.isUnread() {
		details = append(details, paint.Clause{Line: styledLine(plain, fmt.Sprintf("%d desired", v.Desired)), Drop: 5})
	}
	if s.choice.by != byNothing {
		details = append(details, paint.Clause{Line: styledLine(faint, "per "+groupingNames[s.choice.by]), Drop: 4})
	}
	return details
}

// lastReported returns the age of what the rows show as last known; nothing if they show none.
func (s clusterView) lastReported(groups []inspect.GroupRow) []paint.Clause {
	i := slices.IndexFunc(groups, func(g inspect.GroupRow) bool { return g.LastReport != nil })
	if i < 0 {
		return nil
	}
	return []paint.Clause{{Line: styledLine(warn, markWarn+" roles and uptime of "+s.age(&groups[i].LastReport.AsOf)+" ago"), Drop: 2}}
}

func tallyOf(groups []inspect.GroupRow) tally {
	var t tally
	for _, g := range groups {
		t.addGroup(g)
	}
	return t
}

// headline returns the headline of a zone or class, with the number of its groups.
func (s clusterView) headline(of string, groups []inspect.GroupRow) []span {
	in := slices.DeleteFunc(slices.Clone(groups), func(g inspect.GroupRow) bool { return s.choice.by.of(*g.GroupView) != of })
	return []span{styled(strong, fmt.Sprintf("%s %s", groupingNames[s.choice.by], of)), styled(faint, fmt.Sprintf("  %d%s", len(in), tallyOf(in).words().Text()))}
}

func groupRow(g inspect.GroupRow) row {
	return listed(inspect.GroupColumns, g, row{key: g.ID, group: g.ID, node: g.Node, tone: g.Tone, more: func(s clusterView) []line { return s.aboutGroup(g.ID) }})
}
