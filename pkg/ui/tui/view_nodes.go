package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/states"
)

// nodesPage shows which nodes and zones have problems, and when taint rules apply.
func nodesPage(s clusterView) page {
	v := s.snapshot().Nodes
	p := page{empty: "no pod of the cluster is on any node", columns: []column{
		{title: " "},
		{title: "NODE", minimum: 12},
		{title: "ZONE", minimum: 6, from: 60},
		{title: "READY"},
		{title: "CORDON", from: 50},
		{title: "TAINTS", minimum: 14, from: 70},
		{title: "FOR", right: true, from: 110},
		{title: "DETECT", right: true, from: 90},
		{title: "REPLACE", right: true, from: 80},
		{title: "PGS", right: true, from: 55},
		{title: "COORD", right: true, from: 65},
		{title: "CLASSES", minimum: 9, from: 110},
	}}
	zones := s.zonesOfNodes()
	failing, unsures := 0, 0
	for _, n := range v.Items {
		r := s.nodeRow(n, zones[n.Name])
		switch {
		case r.tone >= warn:
			failing++
		case r.tone == unsure:
			unsures++
		}
		p.rows = append(p.rows, r)
		for _, note := range n.Notes() {
			p.notes = append(p.notes, styledLine(faint, n.Name+": "+note))
		}
	}
	slices.SortStableFunc(p.rows, func(a, b row) int { return cmp.Compare(b.tone, a.tone) })
	p.summary = line{styled(plain, phrase.Count(len(v.Items), "node")+", "), styled(toneOfCount(failing), fmt.Sprintf("%d with problems", failing))}
	if unsures > 0 {
		p.summary = append(p.summary, styled(warn, fmt.Sprintf(", %d unknown", unsures)))
	}
	p.summary = append(p.summary, s.zonesSummary()...)
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

// zonesOfNodes returns the zones of the process groups on each node.
func (s clusterView) zonesOfNodes() map[string]string {
	on := map[string]map[string]bool{}
	for _, g := range s.snapshot().Groups.Items {
		if g.Node == "" || g.Zone == "" {
			continue
		}
		if on[g.Node] == nil {
			on[g.Node] = map[string]bool{}
		}
		on[g.Node][g.Zone] = true
	}
	zones := map[string]string{}
	for node, of := range on {
		zones[node] = strings.Join(slices.Sorted(maps.Keys(of)), ",")
	}
	return zones
}

func (s clusterView) nodeRow(n inspect.NodeView, zone string) row {
	t := states.NodeTone(n)
	detect, replace := phrase.Nothing, phrase.Nothing
	if len(n.MatchedRules) > 0 && len(n.ProcessGroups) > 0 {
		detect, replace = ui.DetectWords(n, s.until), ui.ReplaceWords(n, s.until)
	}
	since := phrase.Nothing
	if n.TaintedSince != nil {
		since = s.age(n.TaintedSince)
	}
	return row{key: n.Name, node: n.Name, tone: t, more: func(s clusterView) []line { return s.aboutNode(n.Name) }, number: nodeNumber(n), cells: []span{
		styled(t, t.Mark()),
		styled(toneOfID(t), n.Name), styled(plain, phrase.Or(zone, phrase.UnknownCell)), styled(t, ui.ReadyWord(n)), styled(plain, phrase.YesNo(n.Unschedulable, phrase.UnknownCell)),
		styled(plain, states.TaintsCell(n)), styled(plain, since), styled(t, detect), styled(t, replace),
		styled(plain, strconv.Itoa(len(n.ProcessGroups))), styled(plain, strconv.Itoa(n.Coordinators)), styled(plain, states.ClassesCell(n)),
	}}
}

func nodeNumber(n inspect.NodeView) func(s clusterView, column string) *float64 {
	return func(s clusterView, column string) *float64 {
		switch column {
		case "FOR":
			return s.seconds(n.TaintedSince)
		case "DETECT":
			return s.seconds(n.DetectAt)
		case "REPLACE":
			return s.seconds(n.ReplaceAt)
		}
		return nil
	}
}

// nodesDown returns the nodes that are known to be deleted or not ready.
func (s clusterView) nodesDown() map[string]bool {
	down := map[string]bool{}
	for _, n := range s.snapshot().Nodes.Items {
		if states.NodeTone(n) == bad {
			down[n.Name] = true
		}
	}
	return down
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
		heading("Node " + name), fact("ready", ui.ReadyWord(n)), fact("cordoned", phrase.YesNo(n.Unschedulable, phrase.UnknownCell)), fact("zone", phrase.Or(s.zonesOfNodes()[name], phrase.UnknownCell)),
	}
	for _, taint := range n.Taints {
		lines = append(lines, fact("taint", taint))
	}
	for _, r := range n.MatchedRules {
		lines = append(lines, fact("rule", r.Text()))
	}
	if n.TaintedSince != nil {
		lines = append(lines, fact("tainted for", s.since(n.TaintedSince)), fact("detected in", ui.DetectWords(n, s.until)), fact("replaced in", ui.ReplaceWords(n, s.until)))
	}
	for _, note := range n.Notes() {
		lines = append(lines, fact("note", note))
	}
	lines = append(lines, heading("Process groups"))
	for _, g := range s.snapshot().Groups.Items {
		if g.Node == name {
			lines = append(lines, line{styled(plain, "  "), styled(groupTone(g), groupTone(g).Mark()), styled(plain, " "+g.ID+"  "), styled(groupTone(g), s.conditions(g))})
		}
	}
	return append(lines, commandLines(s.o.fdb("get", "nodes", s.cluster()), s.o.kubectl("describe", "node", name), s.o.fdb("drain", name, "--dry-run"))...)
}
