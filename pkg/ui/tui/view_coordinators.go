package tui

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// coordinatorsPage shows whether a quorum is reachable, and what is marked for removal.
func coordinatorsPage(s clusterView) page {
	v := s.snapshot().Coordinators
	p := page{empty: "no coordinators known", columns: titles(inspect.CoordinatorColumns)}
	t := good
	switch {
	case v.QuorumReachable == nil:
		t = warn
	case !*v.QuorumReachable:
		t = bad
	case v.Reachable != nil && *v.Reachable < len(v.Items):
		t = warn
	}
	p.summary = styledLine(t, v.Quorum())
	for _, c := range v.Items {
		p.rows = append(p.rows, coordinatorRow(c))
	}
	for _, text := range v.Warnings {
		p.notes = append(p.notes, styledLine(warn, markWarn+" "+text))
	}
	return p
}

func coordinatorRow(c inspect.CoordinatorDetailView) row {
	return listed(inspect.CoordinatorColumns, c, row{key: c.Address, group: c.Group, tone: c.Tone(), more: func(s clusterView) []line { return s.aboutCoordinator(c) }})
}

func (s clusterView) aboutCoordinator(c inspect.CoordinatorDetailView) []line {
	lines := []line{
		heading("Coordinator " + c.Address), fact("reachable", phrase.YesNo(c.Reachable, phrase.UnknownCell)), fact("removal", phrase.YesNo(c.Removing, phrase.UnknownCell)),
		fact("process group", phrase.Or(c.Group, phrase.UnknownCell)), fact("zone", phrase.Or(c.Zone, phrase.UnknownCell)), fact("TLS", phrase.YesNo(&c.TLS, phrase.UnknownCell)),
	}
	lines = append(lines, s.aboutGroup(c.Group)...)
	return append(lines, commandLines(s.o.fdb("get", "coordinators", s.cluster()), s.o.fdb("coordinators", "change", s.cluster(), "--dry-run"))...)
}
