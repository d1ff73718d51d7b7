package inspect

import (
	"cmp"
	"slices"
	"time"
)

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
	slices.SortStableFunc(order, rankedGroup.compare)
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
