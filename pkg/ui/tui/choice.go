package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// choice is what people chose to see.
type choice struct {
	// filter leaves rows that have it in them.
	filter string
	// trouble leaves rows that something is wrong with.
	trouble bool
	order   order
	by      grouping
}

// order is what process groups are sorted by.
type order int

const (
	byTrouble order = iota
	byID
	byClass
	byNode
	byUptime
	orders
)

var orderWords = [orders]string{"trouble", "ID", "class", "node", "uptime"}

// grouping is what process groups are put together by.
type grouping int

const (
	byNothing grouping = iota
	byZone
	byTheirClass
	groupings
)

var groupingWords = [groupings]string{"", "zone", "class"}

// of is what a group is put together with.
func (g grouping) of(v ui.GroupView) string {
	switch g {
	case byZone:
		return phrase.Or(v.Zone, phrase.UnknownCell)
	case byTheirClass:
		return v.Class
	default:
		return ""
	}
}

// ranked is a process group with what it is sorted by.
type ranked struct {
	*ui.GroupView
	gravity tone
	// name and number are the parts of its ID: storage-9 comes before storage-10.
	name   string
	number int
	// place is where it was, which decides where nothing else does.
	place int
}

// sorted are process groups in the order that people chose.
func (c choice) sorted(groups []ui.GroupView) []*ranked {
	list := make([]*ranked, len(groups))
	for i := range groups {
		g := &groups[i]
		name, number := splitID(g.ID)
		list[i] = &ranked{g, gravity(*g), name, number, i}
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
		n = cmp.Or(cmp.Compare(b.gravity, a.gravity), compareTrouble(a, b))
	case byClass:
		n = cmp.Compare(a.Class, b.Class)
	case byNode:
		n = cmp.Compare(a.Node, b.Node)
	case byUptime:
		n = compareUptime(a, b)
	default: // by the ID alone
	}
	if n != 0 {
		return n
	}
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.number, b.number), cmp.Compare(a.place, b.place))
}

// compareTrouble puts those first that have their worst condition for the longest.
func compareTrouble(a, b *ranked) int {
	switch {
	case len(a.Conditions) == 0 || len(b.Conditions) == 0:
		return cmp.Compare(len(b.Conditions), len(a.Conditions))
	default:
		return ui.CompareTimes(worstFirst(a.Conditions)[0].Since, worstFirst(b.Conditions)[0].Since)
	}
}

// compareUptime puts those first that started last: what restarts is what to look at.
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

// keep leaves the rows that people want to see. A headline stays where a row under it
// does.
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
		case c.wants(r):
			if headline >= 0 {
				kept, headline = append(kept, rows[headline]), -1
			}
			kept = append(kept, r)
		}
	}
	return kept
}

func (c choice) wants(r row) bool {
	if c.trouble && r.tone < warn {
		return false
	}
	want := strings.ToLower(c.filter)
	return want == "" || strings.Contains(strings.ToLower(r.key), want) ||
		slices.ContainsFunc(r.cells, func(s span) bool { return strings.Contains(strings.ToLower(s.text), want) })
}
