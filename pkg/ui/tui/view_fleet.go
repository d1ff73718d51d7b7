package tui

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/fleet"
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
	p := page{empty: "no clusters yet", columns: []layout.Column{
		{Name: " "},
		{Name: "NAMESPACE", Min: 8, Drop: 60},
		{Name: "NAME", Min: 16},
		{Name: "STATE", Min: 8, Drop: 95},
		{Name: "HEALTH", Min: 20, Drop: 55},
		{Name: "VERSION", Drop: 80},
		{Name: "PGS", Right: true, Drop: 50},
		{Name: "OPERATION", Min: 12, Drop: 70},
		{Name: "CHANGED", Right: true, Drop: 100},
		{Name: "READ", Right: true, Drop: 110},
	}}
	wrong := 0
	for _, c := range s.fleet.Clusters {
		r := s.fleetRow(c)
		if r.tone >= warn {
			wrong++
		}
		p.rows = append(p.rows, r)
	}
	p.summary = line{styled(plain, phrase.Count(len(p.rows), "cluster")+", "), styled(toneOfCount(wrong), fmt.Sprintf("%d with problems", wrong))}
	if s.fleet.Problem != "" {
		p.notes = append(p.notes, styledLine(bad, markBad+" clusters cannot be listed: "+s.fleet.Problem))
	}
	return p
}

func (s clusterView) fleetRow(c fleet.Cluster) row {
	t, state, health := unsure, phrase.UnknownCell, "not read yet"
	version, groups, operation := phrase.UnknownCell, phrase.UnknownCell, phrase.UnknownCell
	if v := c.Status; v != nil {
		t, _ = toneOfStatus(*v)
		state, health, version = v.Cell(), v.Summary, phrase.Or(v.Database.Version, phrase.UnknownCell)
		groups = fmt.Sprintf("%d/%d", v.ProcessGroups.Reconciled, v.ProcessGroups.Desired)
		operation = operationCell(v.Locks)
	}
	if c.Unread != "" {
		t, state, health = bad, string(inspect.StateUnknown), "cannot be read: "+c.Unread
	}
	key := c.Key(s.o.Namespace)
	return row{key: key, tone: t, more: func(s clusterView) []line { return s.aboutCluster(c) }, number: fleetNumber(c), cells: []span{
		styled(t, t.Mark()), styled(plain, c.Namespace), styled(t.OfID(), c.Name), styled(t, state), styled(plain, health), styled(plain, version), styled(plain, groups),
		styled(plain, operation), styled(plain, s.times().AgeOr(c.Changed)), styled(plain, s.age(c.AsOf)),
	}}
}

func fleetNumber(c fleet.Cluster) func(s clusterView, column string) *float64 {
	return func(s clusterView, column string) *float64 {
		switch {
		case column == "CHANGED":
			return s.times().Seconds(c.Changed)
		case column == "READ":
			return s.times().Seconds(c.AsOf)
		case column == "PGS" && c.Status != nil:
			return list.Quantity(&c.Status.ProcessGroups.Desired)
		}
		return nil
	}
}

// operationCell returns the operation of a cluster; "-" for none.
func operationCell(v inspect.LocksView) string {
	switch {
	case v.Operation != nil:
		return v.Operation.Command
	case !v.LeaseRead:
		return phrase.UnknownCell
	default:
		return phrase.Nothing
	}
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
		lines = append(lines, s.operationLine(*o))
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
