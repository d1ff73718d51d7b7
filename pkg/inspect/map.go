package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Map is the process groups of a cluster by class and zone, for a picture that shows all of them at once. It is made of
// the rows of their list, and judges none of them itself.
type Map struct {
	// Zones are the columns; the last one has no name if the zone of a process group is unknown.
	Zones []MapZone
	// Classes are the rows, in the order of process classes.
	Classes []MapClass
}

// MapZone is a column of a map.
type MapZone struct {
	Name string
	// Lost is true if all nodes of the zone are known to be deleted or not ready; without a node, if all of its process
	// groups are down.
	Lost bool
}

// MapClass is a row of a map.
type MapClass struct {
	Name string
	// Zones are its process groups in each column.
	Zones [][]GroupRow
}

// NewMap makes the map of process groups and the nodes of their pods.
func NewMap(groups []GroupView, nodes []NodeView) Map {
	var m Map
	zone, class := map[string]int{}, map[string]int{}
	for _, name := range namesOf(groups, func(g GroupView) string { return g.Zone }, compareZones) {
		zone[name] = len(m.Zones)
		m.Zones = append(m.Zones, MapZone{Name: name})
	}
	for _, name := range namesOf(groups, func(g GroupView) string { return g.Class }, compareClasses) {
		class[name] = len(m.Classes)
		m.Classes = append(m.Classes, MapClass{Name: name, Zones: make([][]GroupRow, len(m.Zones))})
	}
	for i := range groups {
		cell := &m.Classes[class[groups[i].Class]].Zones[zone[groups[i].Zone]]
		*cell = append(*cell, NewGroupRow(&groups[i]))
	}
	for i := range m.Zones {
		m.Zones[i].Lost = m.isLost(i, nodes)
	}
	return m
}

// isLost reports whether a zone is lost: by its nodes, or by its process groups if it has no node left. One without a
// name is no zone.
func (m Map) isLost(zone int, nodes []NodeView) bool {
	name := m.Zones[zone].Name
	in := slices.DeleteFunc(slices.Clone(nodes), func(n NodeView) bool { return !slices.Contains(n.Zones, name) })
	switch {
	case name == "":
		return false
	case len(in) > 0:
		return !slices.ContainsFunc(in, func(n NodeView) bool { return n.Tone() < list.Bad })
	default:
		return m.isDown(zone)
	}
}

// isDown reports whether all process groups of a zone are down.
func (m Map) isDown(zone int) bool {
	for _, c := range m.Classes {
		if slices.ContainsFunc(c.Zones[zone], func(g GroupRow) bool { return g.State() != GroupDown }) {
			return false
		}
	}
	return true
}

// Lost returns the names of the zones that are lost.
func (m Map) Lost() []string {
	var names []string
	for _, z := range m.Zones {
		if z.Lost {
			names = append(names, z.Name)
		}
	}
	return names
}

// namesOf returns what process groups have in common, each once and in order.
func namesOf(groups []GroupView, of func(GroupView) string, compare func(a, b string) int) []string {
	seen := map[string]bool{}
	var names []string
	for _, g := range groups {
		if name := of(g); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	slices.SortFunc(names, compare)
	return names
}

// compareZones sorts by number where names end with one, and what has no name last.
func compareZones(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(b, a)
	}
	x, n := Numbered(a)
	y, m := Numbered(b)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(n, m), cmp.Compare(a, b))
}

// compareClasses sorts by the order of process classes, and others by name.
func compareClasses(a, b string) int {
	all := v1beta2.ProcessClasses()
	rank := func(class string) int {
		if i := slices.Index(all, v1beta2.ProcessClass(class)); i >= 0 {
			return i
		}
		return len(all)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// Numbered returns the parts of a name that ends with a hyphen and a number, so that storage-9 comes before storage-10;
// the whole name and 0 for others.
func Numbered(name string) (text string, number int) {
	at := strings.LastIndexByte(name, '-')
	n, err := strconv.Atoi(name[at+1:])
	if err != nil {
		return name, 0
	}
	return name[:at+1], n
}

// rankedGroup is a process group with what it is ordered by.
type rankedGroup struct {
	GroupRow
	// lost is 1 on a node that does not work, and for a coordinator that does not answer; else 0.
	lost int
	// condition is 1 with any condition, and since is when the worst one began.
	condition int
	since     *time.Time
	// name and number are the parts of its ID: storage-9 comes before storage-10.
	name   string
	number int
}

func ranked(v *GroupView) rankedGroup {
	r := rankedGroup{GroupRow: NewGroupRow(v)}
	if v.NodeProblem != "" || v.hasDeadCoordinator() {
		r.lost = 1
	}
	if len(v.Conditions) > 0 {
		r.condition, r.since = 1, WorstFirst(v.Conditions)[0].Since
	}
	r.name, r.number = Numbered(v.ID)
	return r
}

// compare orders by how bad the state is, what was lost before the rest, then by the age of the worst condition.
func (r rankedGroup) compare(o rankedGroup) int {
	return cmp.Or(
		cmp.Compare(o.Tone, r.Tone), cmp.Compare(o.lost, r.lost), cmp.Compare(o.condition, r.condition), CompareTimes(r.since, o.since),
		cmp.Compare(r.name, o.name), cmp.Compare(r.number, o.number),
	)
}

// WorstGroupsFirst returns the rows of process groups in the order of all lists: the worst first, unknown ones before
// those that are known to be fine.
func WorstGroupsFirst(groups []GroupView) []GroupRow {
	order := make([]rankedGroup, len(groups))
	for i := range groups {
		order[i] = ranked(&groups[i])
	}
	stable.Sort(order, rankedGroup.compare)
	rows := make([]GroupRow, len(groups))
	for i := range order {
		rows[i] = order[i].GroupRow
	}
	return rows
}

func worstFirst(groups []GroupView) []GroupView {
	ordered := make([]GroupView, len(groups))
	for i, r := range WorstGroupsFirst(groups) {
		ordered[i] = *r.GroupView
	}
	return ordered
}
