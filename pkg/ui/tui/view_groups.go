package tui

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/states"
)

// groupsPage shows which process groups have problems, and for how long.
func groupsPage(s clusterView) page {
	groups := s.choice.sorted(s.snapshot().Groups.Items)
	p := page{empty: "no process groups in the status", columns: []column{
		{title: " "},
		{title: "ID", minimum: 15},
		{title: "CLASS", minimum: 9, from: 60},
		{title: "CONDITIONS", minimum: 24},
		{title: "EXCL", usual: phrase.Nothing, from: 50},
		{title: "ROLES", minimum: 8, from: 90},
		{title: "ZONE", minimum: 5, from: 70},
		{title: "NODE", minimum: 8, from: 120},
		{title: "UP", right: true, from: 80},
		{title: "DATA", right: true, from: 110},
		{title: "POD", minimum: 7, from: 140},
		{title: "ADDRESS", minimum: 15, from: 170},
	}}
	last := "\x00"
	for _, g := range groups {
		if head := s.choice.by.of(*g.GroupView); s.choice.by != byNothing && head != last {
			p.rows = append(p.rows, row{cells: s.headline(head)})
			last = head
		}
		p.rows = append(p.rows, s.groupRow(g))
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
		case g.tone >= warn:
			failing++
		case g.tone == unsure:
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
			if groupTone(g) >= warn {
				failing++
			}
		}
	}
	return []span{styled(strong, fmt.Sprintf("%s %s", groupingNames[s.choice.by], of)), styled(faint, fmt.Sprintf("  %d, %d with problems", n, failing))}
}

func (s clusterView) groupRow(r *ranked) row {
	t, g := r.tone, r.GroupView
	return row{key: g.ID, group: g.ID, node: g.Node, tone: t, more: func(s clusterView) []line { return s.aboutGroup(g.ID) }, number: groupNumber(g), build: func(s clusterView) []span {
		return []span{
			styled(t, t.Mark()),
			styled(toneOfID(t), g.ID), styled(plain, g.Class), styled(t, s.conditions(*g)),
			styled(plain, states.ExclusionCell(*g)), styled(plain, rolesCell(g.Roles)), styled(plain, phrase.Or(g.Zone, phrase.UnknownCell)), styled(plain, phrase.Or(g.Node, phrase.Nothing)),
			styled(plain, phrase.SecondsOr(g.UptimeSeconds, phrase.UnknownCell)), styled(plain, phrase.BytesOr(g.StoredBytes, phrase.Nothing)),
			styled(plain, s.podCell(*g)), styled(plain, phrase.Or(strings.Join(g.Addresses, ","), phrase.Nothing)),
		}
	}}
}

// groupNumber returns the numbers of a process group by column: of its conditions the age of the
// worst.
func groupNumber(g *inspect.GroupView) func(s clusterView, column string) *float64 {
	return func(s clusterView, column string) *float64 {
		switch column {
		case "CONDITIONS":
			if len(g.Conditions) > 0 {
				return s.seconds(states.WorstFirst(g.Conditions)[0].Since)
			}
		case "UP":
			return g.UptimeSeconds
		case "DATA":
			return quantity(g.StoredBytes)
		}
		return nil
	}
}

// conditions returns all conditions with their ages, the worst first: a narrow column shows only
// that.
func (s clusterView) conditions(g inspect.GroupView) string {
	words := make([]string, 0, len(g.Conditions)+1)
	for _, c := range states.WorstFirst(g.Conditions) {
		words = append(words, fmt.Sprintf("%s %s", c.Type, s.age(c.Since)))
	}
	if len(words) == 0 && g.Processes != nil && *g.Processes == 0 {
		words = append(words, "no process reports")
	}
	if g.RemovalSince != nil {
		words = append(words, "marked for removal "+s.age(g.RemovalSince))
	}
	if g.Kept {
		words = append(words, "kept")
	}
	return phrase.Or(strings.Join(words, ", "), phrase.Nothing)
}

// podCell returns the phase of the pod. It is unknown while its node does not report: the API
// server still has the last one.
func (s clusterView) podCell(g inspect.GroupView) string {
	switch {
	case g.PodPhase == "":
		return "none"
	case s.down[g.Node]:
		return phrase.UnknownCell
	default:
		return g.PodPhase
	}
}
