package tui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/fleet"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/panes"
)

// fleetView is the list of clusters: a view without a number key, over all others.
var fleetView = view{"clusters", "all clusters, their health and what they are doing", fleetPage}

// inFleet reports whether the list of clusters is displayed instead of one cluster.
func (m model) inFleet() bool { return m.view == len(m.views)-1 }

// toFleet shows the list of clusters.
func (m model) toFleet() (model, tea.Cmd) {
	if m.o.Fleet == nil {
		return m.notify(plain, "no other cluster to show"), nil
	}
	m.view, m.panes = len(m.views)-1, nil
	m.playback = m.rewound()
	return m.follow(), nil
}

// openCluster shows the cluster of the selected row in a view.
func (m model) openCluster(view int) model {
	r, chosen := m.chosenRow()
	if !chosen {
		return m.notify(plain, "nothing to select here")
	}
	at := slices.Index(m.o.Clusters, r.key)
	if at < 0 {
		m.o.Clusters = append(slices.Clone(m.o.Clusters), r.key)
		at = len(m.o.Clusters) - 1
	}
	m.view, m.choice.filter, m.choice.problem = view, "", false
	return m.toCluster(at)
}

func fleetPage(s clusterView) page {
	p := page{empty: "no clusters yet", columns: titles(inspect.ClusterColumns)}
	var found tally
	for _, c := range s.fleet.Clusters {
		r := fleetRow(c, s.o.Namespace)
		found.add(r.tone)
		p.rows = append(p.rows, r)
	}
	p.summary = append(line{styled(plain, phrase.Count(len(p.rows), "cluster"))}, found.words()...)
	if s.fleet.Problem != "" {
		p.notes = append(p.notes, styledLine(bad, markBad+" clusters cannot be listed: "+s.fleet.Problem))
	}
	return p
}

func fleetRow(c fleet.Cluster, namespace string) row {
	item := inspect.ClusterRow{Namespace: c.Namespace, Name: c.Name, Status: c.Status, Unread: c.Unread, AsOf: c.AsOf, Changed: c.Changed}
	return listed(inspect.ClusterColumns, item, row{key: c.Key(namespace), tone: item.Tone(), more: func(s clusterView) []line { return s.aboutCluster(c) }})
}

// aboutCluster returns the details of a cluster of the list.
func (s clusterView) aboutCluster(c fleet.Cluster) []line {
	lines := []line{heading(c.Namespace + "/" + c.Name)}
	if c.Unread != "" {
		lines = append(lines, line{styled(bad, "  "+markBad+" "), styled(bad, "cannot be read: "+c.Unread)})
	}
	v := c.Status
	if v == nil {
		return append(lines, fact("state", phrase.UnknownCell))
	}
	t, mark := toneOfStatus(*v)
	lines = append(lines, line{styled(t, "  "+mark+" "), styled(t, v.Summary)})
	lines = append(lines,
		fact("version", phrase.Or(v.Database.Version, phrase.UnknownCell)+", desired "+v.Database.SpecVersion), append(fact("tolerates", "")[:1], s.tolerance(v.FaultTolerance)),
		fact("coordinators", fmt.Sprintf("%s of %d reachable", phrase.NumberOr(v.Coordinators.Reachable, phrase.UnknownCell), len(v.Coordinators.Items))),
		fact("groups", fmt.Sprintf("%d of %d reconciled, %d marked for removal", v.ProcessGroups.Reconciled, v.ProcessGroups.Desired, v.ProcessGroups.Removing)),
		fact("data", phrase.BytesOr(v.Database.StoredBytes, phrase.UnknownCell)+", moving "+phrase.BytesOr(v.Database.MovingBytes, phrase.UnknownCell)))
	if o := v.Locks.Operation; o != nil {
		lines = append(lines, fitted(s.operationClauses(*o), math.MaxInt, 1)...)
	}
	for _, reason := range v.Reconciliation.Reasons {
		lines = append(lines, fact("not desired", reason))
	}
	return append(lines, fact("read", s.age(c.AsOf)+" ago"))
}

// whole returns the cluster of a key with its namespace.
func (m model) whole(cluster string) string {
	key := entries.Key(cluster, m.o.Namespace)
	return key.Namespace + "/" + key.Name
}

// drawnMap is the map of a frame in a width: it is drawn once.
type drawnMap struct {
	frame *frame.Frame
	width int
	lines []line
}

// of returns the map of a frame, with a blank line below it unless titles of panes follow.
func (d *drawnMap) of(f *frame.Frame, o *Options, width int) []line {
	if d.frame == f && d.width == width {
		return d.lines
	}
	d.frame, d.width, d.lines = f, width, nil
	for _, spans := range ui.MapLines(inspect.NewMap(f.Groups.Items, f.Nodes.Items), ui.Paint{ASCII: o.ASCII}, width) {
		var l line
		for _, s := range spans {
			l = append(l, styled(s.Tone, s.Text))
		}
		d.lines = append(d.lines, l)
	}
	if panes.Of(width).Side == 0 {
		d.lines = append(d.lines, line{})
	}
	return d.lines
}

// leastListed is how many lines the list of process groups keeps below a map, unless it needs fewer.
const leastListed = 18

// mapLines returns the map above the list of process groups; nil where it is not shown, or has no room.
func (m model) mapLines(s clusterView) []line {
	if m.view != viewGroups || len(m.panes) > 0 || m.choice.noMap || !m.mapFits(s) {
		return nil
	}
	return m.drawnMap.of(s.frame, &m.o, m.width)
}

// mapFits reports whether there is room for a map and for the list below it.
func (m model) mapFits(s clusterView) bool {
	if s.frame == nil || len(s.frame.Groups.Items) == 0 || m.width < fullWidth || m.height < fullHeight {
		return false
	}
	const titles = 2
	return m.roomForPage(s)-len(m.drawnMap.of(s.frame, &m.o, m.width)) >= min(leastListed, titles+len(s.frame.Groups.Items))
}

// toggleMap shows or hides the map.
func (m model) toggleMap() (model, tea.Cmd) {
	if m.view != viewGroups {
		return m.notify(plain, "the map is above the process groups, view 1"), nil
	}
	m.choice.noMap = !m.choice.noMap
	s := m.clusterView()
	if !m.choice.noMap && s.frame != nil && !m.mapFits(s) {
		return m.notify(plain, "the map needs a larger terminal; "+m.o.fdb("status", m.name(), "--map")+" prints it"), nil
	}
	return m, nil
}

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
	stable.Sort(p.rows, func(a, b row) int { return cmp.Compare(b.tone, a.tone) })
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
		heading("Node " + name), fact("ready", n.ReadyCell().Text), fact("cordoned", phrase.YesNo(n.Unschedulable, phrase.UnknownCell)), fact("zone", list.Words(n.Zones).Text),
	}
	for _, taint := range n.Taints {
		lines = append(lines, fact("taint", taint))
	}
	for _, r := range n.MatchedRules {
		lines = append(lines, fact("rule", r.Text()))
	}
	if n.TaintedSince != nil {
		lines = append(lines, fact("tainted for", s.since(n.TaintedSince)), fact("detected in", n.DetectCell(s.times()).Text), fact("replaced in", n.ReplaceCell(s.times()).Text))
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
