package tui

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// coordinatorsPage answers: does a quorum answer, and will it after what comes next?
func coordinatorsPage(s sight) page {
	v := s.look().Coordinators
	p := page{empty: "no coordinator is known", columns: []column{
		{title: " "},
		{title: "ADDRESS", least: 16},
		{title: "ID", least: 10},
		{title: "ZONE", least: 5},
		{title: "DC", least: 2, from: 110},
		{title: "ANSWERS"},
		{title: "LEAVING"},
		{title: "TLS"},
	}}
	t := good
	switch {
	case v.QuorumReachable == nil:
		t = warn
	case !*v.QuorumReachable:
		t = bad
	case v.Reachable != nil && *v.Reachable < len(v.Items):
		t = warn
	}
	p.says = line{say(t, fmt.Sprintf("%s of %d answer, %d wanted; a quorum answers: %s", numberOr(v.Reachable), len(v.Items), v.Desired, yesNo(v.QuorumReachable)))}
	for _, c := range v.Items {
		p.rows = append(p.rows, coordinatorRow(c))
	}
	for _, text := range v.Warnings {
		p.notes = append(p.notes, sayLine(warn, markWarn+" "+text))
	}
	return p
}

func coordinatorRow(c ui.CoordinatorDetailView) row {
	t := good
	switch {
	case isNot(c.Reachable):
		t = bad
	case is(c.Leaving):
		t = warn
	case c.Reachable == nil:
		t = unsure
	}
	return row{key: c.Address, group: c.Group, tone: t, more: func(s sight) []line { return s.aboutCoordinator(c) }, cells: []span{
		{t.mark(), t},
		say(plain, c.Address), say(plain, orUnknown(c.Group)), say(plain, orUnknown(c.Zone)), say(plain, orNothing(c.DC)),
		say(t, yesNo(c.Reachable)), say(plain, yesNo(c.Leaving)), say(plain, yesNo(&c.TLS)),
	}}
}

func (s sight) aboutCoordinator(c ui.CoordinatorDetailView) []line {
	lines := []line{
		heading("Coordinator " + c.Address), fact("answers", yesNo(c.Reachable)), fact("leaving", yesNo(c.Leaving)),
		fact("process group", orUnknown(c.Group)), fact("zone", orUnknown(c.Zone)), fact("TLS", yesNo(&c.TLS)),
	}
	lines = append(lines, s.aboutGroup(c.Group)...)
	return append(lines, commandLines(s.o.fdb("coordinators", "list", s.cluster()), s.o.fdb("coordinators", "change", s.cluster(), "--dry-run"))...)
}
