package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// choice is the user's selection of rows and their order.
type choice struct {
	// filter selects rows that contain it.
	filter string
	// trouble selects rows with problems.
	trouble bool
	order   order
	by      grouping
}

// order is the sort key of process groups.
type order int

const (
	byTrouble order = iota
	byID
	byClass
	byNode
	byUptime
	orders
)

var orderNames = [orders]string{"problems", "ID", "class", "node", "uptime"}

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

// ranked is a process group with its sort keys.
type ranked struct {
	*inspect.GroupView
	tone tone
	// name and number are the parts of its ID: storage-9 comes before storage-10.
	name   string
	number int
	// index is its original position, which breaks ties.
	index int
}

// sorted returns process groups in the selected order.
func (c choice) sorted(groups []inspect.GroupView) []*ranked {
	list := make([]*ranked, len(groups))
	for i := range groups {
		g := &groups[i]
		name, number := splitID(g.ID)
		list[i] = &ranked{g, groupTone(*g), name, number, i}
	}
	slices.SortFunc(list, c.compare)
	return list
}

// compare orders two process groups.
func (c choice) compare(a, b *ranked) int {
	if n := cmp.Compare(c.by.of(*a.GroupView), c.by.of(*b.GroupView)); n != 0 {
		return n
	}
	var n int
	switch c.order {
	case byTrouble:
		n = cmp.Or(cmp.Compare(b.tone, a.tone), compareTrouble(a, b))
	case byClass:
		n = cmp.Compare(a.Class, b.Class)
	case byNode:
		n = cmp.Compare(a.Node, b.Node)
	case byUptime:
		n = compareUptime(a, b)
	default: // only by the ID
	}
	if n != 0 {
		return n
	}
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.number, b.number), cmp.Compare(a.index, b.index))
}

// compareTrouble sorts by the age of the worst condition, the oldest first.
func compareTrouble(a, b *ranked) int {
	switch {
	case len(a.Conditions) == 0 || len(b.Conditions) == 0:
		return cmp.Compare(len(b.Conditions), len(a.Conditions))
	default:
		return inspect.CompareTimes(worstFirst(a.Conditions)[0].Since, worstFirst(b.Conditions)[0].Since)
	}
}

// compareUptime sorts by uptime, the shortest first: restarts are what users look for.
func compareUptime(a, b *ranked) int {
	switch {
	case a.UptimeSeconds == nil && b.UptimeSeconds == nil:
		return 0
	case a.UptimeSeconds == nil:
		return -1
	case b.UptimeSeconds == nil:
		return 1
	default:
		return cmp.Compare(*a.UptimeSeconds, *b.UptimeSeconds)
	}
}

func splitID(id string) (name string, number int) {
	at := strings.LastIndexByte(id, '-')
	n, err := strconv.Atoi(id[at+1:])
	if err != nil {
		return id, 0
	}
	return id[:at+1], n
}

// keep returns the selected rows. A headline is kept if any of its rows is.
func (c choice) keep(rows []row) []row {
	if c.filter == "" && !c.trouble {
		return rows
	}
	var kept []row
	headline := -1
	for i, r := range rows {
		switch {
		case r.key == "":
			headline = i
		case c.matches(r):
			if headline >= 0 {
				kept, headline = append(kept, rows[headline]), -1
			}
			kept = append(kept, r)
		}
	}
	return kept
}

func (c choice) matches(r row) bool {
	if c.trouble && r.tone < warn {
		return false
	}
	want := strings.ToLower(c.filter)
	return want == "" || strings.Contains(strings.ToLower(r.key), want) ||
		slices.ContainsFunc(r.cells, func(s span) bool { return strings.Contains(strings.ToLower(s.text), want) })
}
