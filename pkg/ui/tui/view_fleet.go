package tui

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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
