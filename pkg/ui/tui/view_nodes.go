package tui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// nodesPage shows which nodes and zones have problems, and when taint rules apply.
func nodesPage(s clusterView) page {
	v := s.snapshot().Nodes
	p := page{empty: "no pod of the cluster is on any node", columns: titles(inspect.NodeColumns), notes: faintLines(v.Notes())}
	var found tally
	for _, n := range v.Items {
		r := nodeRow(n)
		found.add(r.tone)
		p.rows = append(p.rows, r)
	}
	slices.SortStableFunc(p.rows, func(a, b row) int { return cmp.Compare(b.tone, a.tone) })
	p.summary = append(line{styled(plain, phrase.Count(len(v.Items), "node"))}, found.words()...)
	p.summary = append(p.summary, s.zonesSummary()...)
	if s.isUnread() {
		p.summary, p.empty = styledLine(warn, markUnknown+" nodes unknown"), ""
	}
	if v.Hidden != "" {
		p.notes = append(p.notes, styledLine(warn, markWarn+" taints and rules are not checked: "+v.Hidden))
	}
	return p
}

// zonesSummary returns which zones do not report and which is under maintenance.
func (s clusterView) zonesSummary() line {
	var l line
	v := s.snapshot().Status
	if unresponsive := v.FaultTolerance.ZonesNotReporting; len(unresponsive) > 0 {
		l = append(l, styled(bad, " · "+markBad+" not reporting: "+strings.Join(unresponsive, ", ")))
	}
	if v.Database.MaintenanceZone != "" {
		l = append(l, styled(warn, " · "+markWarn+" maintenance of "+v.Database.MaintenanceZone+", "+phrase.SecondsOr(v.Database.MaintenanceLeft, phrase.UnknownCell)+" left"))
	}
	return l
}

func nodeRow(n inspect.NodeView) row {
	return listed(inspect.NodeColumns, n, row{key: n.Name, node: n.Name, tone: n.Tone(), more: func(s clusterView) []line { return s.aboutNode(n.Name) }})
}

// nodeNamed returns a node by its name.
func (s clusterView) nodeNamed(name string) (inspect.NodeView, bool) {
	items := s.snapshot().Nodes.Items
	i := slices.IndexFunc(items, func(n inspect.NodeView) bool { return n.Name == name })
	if i < 0 {
		return inspect.NodeView{}, false
	}
	return items[i], true
}

// aboutNode returns the details of a node.
func (s clusterView) aboutNode(name string) []line {
	n, found := s.nodeNamed(name)
	if !found {
		return nil
	}
	lines := []line{
		heading("Node " + name), fact("ready", n.ReadyWord()), fact("cordoned", phrase.YesNo(n.Unschedulable, phrase.UnknownCell)), fact("zone", list.Words(n.Zones).Text),
	}
	for _, taint := range n.Taints {
		lines = append(lines, fact("taint", taint))
	}
	for _, r := range n.MatchedRules {
		lines = append(lines, fact("rule", r.Text()))
	}
	if n.TaintedSince != nil {
		lines = append(lines, fact("tainted for", s.since(n.TaintedSince)), fact("detected in", n.DetectWords(s.times())), fact("replaced in", n.ReplaceWords(s.times())))
	}
	for _, note := range n.Notes() {
		lines = append(lines, fact("note", note))
	}
	lines = append(lines, heading("Process groups"))
	for _, g := range s.snapshot().Groups.Items {
		if g.Node == name {
			lines = append(lines, line{styled(plain, "  "), styled(g.Tone(), g.Tone().Mark()), styled(plain, " "+g.ID+"  "), styled(g.Tone(), strings.ReplaceAll(g.ConditionsCell(s.times()).Text, ",", ", "))})
		}
	}
	return append(lines, commandLines(s.o.fdb("get", "nodes", s.cluster()), s.o.kubectl("describe", "node", name), s.o.fdb("drain", name, "--dry-run"))...)
}
