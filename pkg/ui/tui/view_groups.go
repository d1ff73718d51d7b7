package tui

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func groupsPage(s sight) page {
	p := page{columns: []column{
		{title: " "}, {title: "ID", least: 12}, {title: "CLASS", least: 7}, {title: "CONDITIONS", least: 20},
		{title: "ZONE", least: 6}, {title: "NODE", least: 8, from: 100},
	}, empty: "no process groups are recorded"}
	for _, g := range s.look().Groups.Items {
		p.rows = append(p.rows, s.groupRow(g))
	}
	return p
}

func (s sight) groupRow(g ui.GroupView) row {
	t := gravity(g)
	return row{key: g.ID, group: g.ID, node: g.Node, cells: []span{
		{t.mark(), t}, say(t, g.ID), say(plain, g.Class), say(t, s.conditions(g)), say(plain, g.Zone), say(plain, g.Node),
	}}
}

func gravity(g ui.GroupView) tone {
	if len(g.Conditions) > 0 {
		return bad
	}
	return good
}

func (s sight) conditions(g ui.GroupView) string {
	words := make([]string, len(g.Conditions))
	for i, c := range g.Conditions {
		words[i] = fmt.Sprintf("%s %s", c.Type, s.age(&c.Since))
	}
	return strings.Join(words, ", ")
}
