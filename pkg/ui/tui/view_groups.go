package tui

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// groupsPage shows which process groups have problems, and for how long.
func groupsPage(s clusterView) page {
	groups := s.choice.sorted(s.snapshot().Groups.Items, s.down)
	p := page{empty: "no process groups in the status", columns: titles(inspect.GroupColumns)}
	last := "\x00"
	for _, g := range groups {
		if head := s.choice.by.of(*g.GroupView); s.choice.by != byNothing && head != last {
			p.rows = append(p.rows, row{cells: s.headline(head)})
			last = head
		}
		p.rows = append(p.rows, groupRow(g.GroupRow))
	}
	p.summary = s.groupsSummary(groups)
	return p
}

// groupsSummary counts process groups, and describes their order.
func (s clusterView) groupsSummary(groups []*ranked) line {
	v := s.snapshot().Status.ProcessGroups
	failing, unsures := 0, 0
	for _, g := range groups {
		switch {
		case g.Tone >= warn:
			failing++
		case g.Tone == unsure:
			unsures++
		}
	}
	tone := good
	if failing > 0 {
		tone = warn
	}
	l := line{
		styled(plain, fmt.Sprintf("%s, %d desired, ", phrase.Count(len(groups), "process group"), v.Desired)),
		styled(tone, fmt.Sprintf("%d with problems", failing)),
	}
	if unsures > 0 {
		l = append(l, styled(warn, fmt.Sprintf(", %d unknown", unsures)))
	}
	if v.Removing > 0 {
		l = append(l, styled(plain, fmt.Sprintf(", %d marked for removal", v.Removing)))
	}
	if s.choice.by != byNothing {
		l = append(l, styled(faint, " · per "+groupingNames[s.choice.by]))
	}
	if v.Source == inspect.SourceResource {
		l = append(l, styled(warn, " · "+markWarn+" conditions of "+s.age(v.AsOf)+" ago"))
	}
	return l
}

// headline returns the headline of a zone or class, with the number of its groups.
func (s clusterView) headline(of string) []span {
	n, failing := 0, 0
	for _, g := range s.snapshot().Groups.Items {
		if s.choice.by.of(g) == of {
			n++
			if g.Tone() >= warn {
				failing++
			}
		}
	}
	return []span{styled(strong, fmt.Sprintf("%s %s", groupingNames[s.choice.by], of)), styled(faint, fmt.Sprintf("  %d, %d with problems", n, failing))}
}

func groupRow(g inspect.GroupRow) row {
	return listed(inspect.GroupColumns, g, row{key: g.ID, group: g.ID, node: g.Node, tone: g.Tone, more: func(s clusterView) []line { return s.aboutGroup(g.ID) }})
}
