package tui

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// coordinatorsPage shows whether a quorum is reachable, and what is marked for removal.
func coordinatorsPage(s clusterView) page {
	v := s.snapshot().Coordinators
	p := page{empty: "no coordinators known", columns: []column{
		{title: " "},
		{title: "ADDRESS", minimum: 16},
		{title: "ID", minimum: 10, from: 60},
		{title: "ZONE", minimum: 5, from: 70},
		{title: "DC", minimum: 2, from: 110},
		{title: "REACHABLE"},
		{title: "REMOVAL", from: 80},
		{title: "TLS", from: 90},
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
	p.summary = line{styled(t, fmt.Sprintf("%s of %d reachable, %d desired; quorum reachable: %s", phrase.NumberOr(v.Reachable, phrase.UnknownCell), len(v.Items), v.Desired, phrase.YesNo(v.QuorumReachable, phrase.UnknownCell)))}
	for _, c := range v.Items {
		p.rows = append(p.rows, coordinatorRow(c))
	}
	for _, text := range v.Warnings {
		p.notes = append(p.notes, styledLine(warn, markWarn+" "+text))
	}
	return p
}

func coordinatorRow(c inspect.CoordinatorDetailView) row {
	t := good
	switch {
	case !ptr.Deref(c.Reachable, true):
		t = bad
	case ptr.Deref(c.Removing, false):
		t = warn
	case c.Reachable == nil:
		t = unsure
	}
	return row{key: c.Address, group: c.Group, tone: t, more: func(s clusterView) []line { return s.aboutCoordinator(c) }, cells: []span{
		styled(t, t.Mark()),
		styled(plain, c.Address), styled(plain, phrase.Or(c.Group, phrase.UnknownCell)), styled(plain, phrase.Or(c.Zone, phrase.UnknownCell)), styled(plain, phrase.Or(c.DC, phrase.Nothing)),
		styled(t, phrase.YesNo(c.Reachable, phrase.UnknownCell)), styled(plain, phrase.YesNo(c.Removing, phrase.UnknownCell)), styled(plain, phrase.YesNo(&c.TLS, phrase.UnknownCell)),
	}}
}

func (s clusterView) aboutCoordinator(c inspect.CoordinatorDetailView) []line {
	lines := []line{
		heading("Coordinator " + c.Address), fact("reachable", phrase.YesNo(c.Reachable, phrase.UnknownCell)), fact("removal", phrase.YesNo(c.Removing, phrase.UnknownCell)),
		fact("process group", phrase.Or(c.Group, phrase.UnknownCell)), fact("zone", phrase.Or(c.Zone, phrase.UnknownCell)), fact("TLS", phrase.YesNo(&c.TLS, phrase.UnknownCell)),
	}
	lines = append(lines, s.aboutGroup(c.Group)...)
	return append(lines, commandLines(s.o.fdb("get", "coordinators", s.cluster()), s.o.fdb("coordinators", "change", s.cluster(), "--dry-run"))...)
}
