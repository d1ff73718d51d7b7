package tui

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

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
	p.summary = s.groupsSummary(groups)
	return p
}

// groupsSummary counts process groups, and describes their order.
func (s clusterView) groupsSummary(groups []inspect.GroupRow) line {
	v := s.snapshot().Status.ProcessGroups
	if len(groups) == 0 && s.isUnread() {
		return styledLine(warn, markUnknown+" process groups unknown")
	}
	l := line{styled(plain, fmt.Sprintf("%s, %d desired", phrase.Count(len(groups), "process group"), v.Desired))}
	l = append(l, tallyOf(groups).words()...)
	if v.Removing > 0 {
		l = append(l, styled(plain, fmt.Sprintf(", %d marked for removal", v.Removing)))
	}
	if s.choice.by != byNothing {
		l = append(l, styled(faint, " · per "+groupingNames[s.choice.by]))
	}
	if v.Source == inspect.SourceResource {
		l = append(l, styled(warn, " · "+markWarn+" conditions of "+s.age(v.AsOf)+" ago"))
	}
	return append(l, s.lastReported(groups)...)
}

// lastReported returns the age of what the rows show as last known; nothing if they show none.
func (s clusterView) lastReported(groups []inspect.GroupRow) line {
	i := slices.IndexFunc(groups, func(g inspect.GroupRow) bool { return g.LastReport != nil })
	if i < 0 {
		return nil
	}
	return line{styled(warn, " · "+markWarn+" roles and uptime of "+s.age(&groups[i].LastReport.AsOf)+" ago")}
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
