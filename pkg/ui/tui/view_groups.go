package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// groupsPage answers: which process groups have something wrong with them, and for how
// long?
func groupsPage(s sight) page {
	groups := s.choice.sorted(s.look().Groups.Items)
	p := page{empty: "no process groups are recorded", columns: []column{
		{title: " "},
		{title: "ID", least: 12},
		{title: "CLASS", least: 7},
		{title: "CONDITIONS", least: 12},
		{title: "EXCL", usual: phrase.Nothing},
		{title: "POD", least: 7, from: 100},
		{title: "ZONE", least: 5},
		{title: "NODE", least: 8, from: 110},
		{title: "UP", right: true},
		{title: "DATA", right: true, from: 110},
		{title: "ROLES", least: 8, from: 130},
		{title: "ADDRESS", least: 15, from: 170},
	}}
	last := "\x00"
	for _, g := range groups {
		if head := s.choice.by.of(*g.GroupView); s.choice.by != byNothing && head != last {
			p.rows = append(p.rows, row{cells: s.headline(head)})
			last = head
		}
		p.rows = append(p.rows, s.groupRow(g))
	}
	p.says = s.groupsSay(groups)
	return p
}

// groupsSay counts process groups, and says how they are shown.
func (s sight) groupsSay(groups []*ranked) line {
	v := s.look().Status.ProcessGroups
	troubled, unsures := 0, 0
	for _, g := range groups {
		switch {
		case g.gravity >= warn:
			troubled++
		case g.gravity == unsure:
			unsures++
		}
	}
	tone := good
	if troubled > 0 {
		tone = warn
	}
	l := line{
		say(plain, fmt.Sprintf("%s of %d wanted, ", phrase.Count(len(groups), "process group"), v.Desired)),
		say(tone, fmt.Sprintf("%d with trouble", troubled)),
	}
	if unsures > 0 {
		l = append(l, say(warn, fmt.Sprintf(", %d unknown", unsures)))
	}
	if v.Removing > 0 {
		l = append(l, say(plain, fmt.Sprintf(", %d leaving", v.Removing)))
	}
	l = append(l, say(faint, " · by "+orderWords[s.choice.order]))
	if s.choice.by != byNothing {
		l = append(l, say(faint, " per "+groupingWords[s.choice.by]))
	}
	if v.Source == ui.SourceRecord {
		l = append(l, say(warn, " · "+markWarn+" conditions as last recorded "+s.age(v.AsOf)+" ago"))
	}
	return l
}

// headline is over the groups of a zone or class, with how many they are.
func (s sight) headline(of string) []span {
	n, troubled := 0, 0
	for _, g := range s.look().Groups.Items {
		if s.choice.by.of(g) == of {
			n++
			if gravity(g) >= warn {
				troubled++
			}
		}
	}
	return []span{say(strong, fmt.Sprintf("%s %s", groupingWords[s.choice.by], of)), say(faint, fmt.Sprintf("  %d, %d with trouble", n, troubled))}
}

func (s sight) groupRow(r *ranked) row {
	t, g := r.gravity, r.GroupView
	return row{key: g.ID, group: g.ID, node: g.Node, tone: t, more: func(s sight) []line { return s.aboutGroup(g.ID) }, cells: []span{
		{t.mark(), t},
		say(toneOfID(t), g.ID), say(plain, g.Class), say(t, s.conditions(*g)),
		say(plain, exclusionCell(*g)), say(plain, podCell(*g)), say(plain, phrase.Or(g.Zone, phrase.UnknownCell)), say(plain, phrase.Or(g.Node, phrase.Nothing)),
		say(plain, phrase.SecondsOr(g.UptimeSeconds, phrase.UnknownCell)), say(plain, phrase.BytesOr(g.StoredBytes, phrase.Nothing)),
		say(plain, rolesCell(g.Roles)), say(plain, phrase.Or(strings.Join(g.Addresses, ","), phrase.Nothing)),
	}}
}

// toneOfID leaves the IDs of those that are well in the ordinary color: a screen full of
// green shows nothing.
func toneOfID(t tone) tone {
	if t < warn {
		return plain
	}
	return t
}

// gravity is how bad it is with a process group.
func gravity(g ui.GroupView) tone {
	worst := good
	if g.Processes == nil {
		worst = unsure
	}
	if g.RemovalSince != nil || (g.Exclusion != ui.NotExcluded && g.Exclusion != ui.ExclusionUnknown) {
		worst = warn
	}
	if g.Processes != nil && *g.Processes == 0 && g.RemovalSince == nil {
		worst = bad
	}
	for _, c := range g.Conditions {
		worst = max(worst, gravityOf(c.Type))
	}
	return worst
}

// gravityOf is how bad a condition is: what a replacement would follow from is bad.
func gravityOf(condition string) tone {
	c := v1beta2.ProcessGroupConditionType(condition)
	switch {
	case c.IsInformational(), c == v1beta2.ConditionPodPending, c == v1beta2.ConditionProcessIsMarkedAsExcluded:
		return warn
	case slices.Contains(v1beta2.ReplacementConditions(), c):
		return bad
	default:
		return warn
	}
}

// conditions are what is wrong, each with for how long; all that a narrow column shows is
// the worst.
func (s sight) conditions(g ui.GroupView) string {
	words := make([]string, 0, len(g.Conditions)+1)
	for _, c := range worstFirst(g.Conditions) {
		words = append(words, fmt.Sprintf("%s %s", c.Type, s.age(c.Since)))
	}
	if len(words) == 0 && g.Processes != nil && *g.Processes == 0 {
		words = append(words, "no process reports")
	}
	if g.RemovalSince != nil {
		words = append(words, "leaving "+s.age(g.RemovalSince))
	}
	return phrase.Or(strings.Join(words, ", "), phrase.Nothing)
}

// worstFirst are conditions, of alike ones the oldest first.
func worstFirst(conditions []ui.ConditionView) []ui.ConditionView {
	return slices.SortedStableFunc(slices.Values(conditions), func(a, b ui.ConditionView) int {
		return cmp.Or(cmp.Compare(gravityOf(b.Type), gravityOf(a.Type)), ui.CompareTimes(a.Since, b.Since))
	})
}

func exclusionCell(g ui.GroupView) string {
	switch g.Exclusion {
	case ui.NotExcluded:
		return phrase.Nothing
	case ui.ExclusionUnknown:
		return phrase.UnknownCell
	default:
		return string(g.Exclusion)
	}
}

func podCell(g ui.GroupView) string {
	if g.PodPhase == "" {
		return "none"
	}
	return g.PodPhase
}

func rolesCell(roles []string) string {
	if roles == nil {
		return phrase.UnknownCell
	}
	return phrase.Or(strings.Join(roles, ","), phrase.Nothing)
}
