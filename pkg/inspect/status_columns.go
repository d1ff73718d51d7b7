package inspect

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// StatusListView is the document of `status -A`.
type StatusListView struct {
	Document
	Items []StatusView `json:"items"`
	// Unread are the sites that cannot be read; absent where all items are of one API server, or all sites were read.
	Unread []UnreadSite `json:"unread,omitempty"`
	// Differences are the settings of the database in which the specs of the sites contradict each other; absent without any.
	Differences []string `json:"differences,omitempty"`
}

// NewStatusListView makes the document.
func NewStatusListView(m Metadata, asOf time.Time, items []StatusView) StatusListView {
	return StatusListView{Document: NewDocument("ClusterStatusList", m, asOf, SourceLive), Items: OrEmpty(items)}
}

// Labels are those of the resources.
func (v StatusListView) Labels() []map[string]string {
	return labelsOf(v.Items, func(s StatusView) map[string]string { return s.Labels })
}

// List returns the clusters with their columns.
func (v StatusListView) List() list.Table {
	var rows []ClusterRow
	for i := range v.Items {
		m := v.Items[i].Metadata
		rows = append(rows, ClusterRow{Site: m.Site, Namespace: m.Namespace, Name: m.Cluster, Status: &v.Items[i]})
	}
	for _, u := range v.Unread {
		rows = append(rows, ClusterRow{Site: u.Site, Namespace: u.Namespace, Name: u.Cluster, Unread: u.Reason})
	}
	return list.Of(ClusterColumns, rows)
}

// ClusterRow is one cluster of a list.
type ClusterRow struct {
	// Site is empty where all rows are of one API server.
	Site            string
	Namespace, Name string
	// Status is the last one that was read; nil before the first.
	Status *StatusView
	// Unread is why it cannot be read now; empty if it can.
	Unread string
	// AsOf is when the cluster was last read by a command that follows it, Changed when something
	// that the list shows changed; nil before, and where it is read once.
	AsOf, Changed *time.Time
}

// ClusterColumns are the columns of clusters.
var ClusterColumns = []list.Column[ClusterRow]{
	{Title: "SITE", Meaning: "Site of the database, with --contexts or --sites", Place: list.Optional, Cell: func(_ list.At, c ClusterRow) list.Cell { return list.Text(c.Site) }},
	{Title: "NAMESPACE", Meaning: "Namespace of the cluster", Cell: func(_ list.At, c ClusterRow) list.Cell { return list.Text(c.Namespace) }},
	{Title: "NAME", Meaning: "Name of the cluster", Cell: func(_ list.At, c ClusterRow) list.Cell { return list.Text(c.Name).In(c.Tone().OfID()) }},
	{Title: "VERSION", Meaning: "Version that the database runs", Drop: 5, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return v.Database.Version })
	}},
	{Title: "STATE", Meaning: "State of the database, and whether objects are being deleted", Cell: func(_ list.At, c ClusterRow) list.Cell { return c.stateCell() }},
	{Title: "AVAILABLE", Meaning: "Whether the database is available", Typical: 9, Drop: 2, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.yesNo(func(v StatusView) *bool { return v.Database.Available })
	}},
	{Title: "TOLERANCE", Meaning: "Zones that can be lost, of those desired", Typical: 9, Drop: 6, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return ofDesired(v.FaultTolerance.Zones, v.FaultTolerance.Desired) })
	}},
	{Title: "REPLICATION", Meaning: "Replicas that any data has at least, of those desired", Typical: 11, Drop: 10, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return ofDesired(v.Database.Replicas, v.Database.ReplicasDesired) })
	}},
	{Title: "COORDS", Meaning: "Coordinators that are reachable, of all", Typical: 6, Drop: 8, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return ofDesired(v.Coordinators.Reachable, len(v.Coordinators.Items)) })
	}},
	{Title: "PGS", Meaning: "Process groups that match the spec, of those desired", Typical: 5, Drop: 2, Right: true, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return ofDesired(&v.ProcessGroups.Reconciled, v.ProcessGroups.Desired) })
	}, Number: func(_ list.At, c ClusterRow) *float64 { return c.desiredGroups() }},
	{Title: "EXCLUDING", Meaning: "Process groups marked for removal whose exclusion is not complete", Typical: 9, Drop: 11, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string {
			return fmt.Sprint(max(0, v.ProcessGroups.Removing-v.ProcessGroups.Excluded))
		})
	}},
	{Title: "REMOVING", Meaning: "Process groups marked for removal", Typical: 8, Drop: 9, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return fmt.Sprint(v.ProcessGroups.Removing) })
	}},
	{Title: "RECONCILED", Meaning: "Generation of the spec that was reconciled, of the present one", Typical: 10, Drop: 4, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string {
			return fmt.Sprintf("%d/%d", v.Reconciliation.ReconciledGeneration, v.Reconciliation.Generation)
		})
	}},
	{Title: "LOCK", Meaning: "Holder of the Lease of runs, or of the database lock; - where the spec does not use it", Drop: 12, Min: 10, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.cell(func(v StatusView) list.Cell { return v.Locks.holder() })
	}},
	{Title: "ASOF", Meaning: "Age of the database's status", Typical: 6, Drop: 7, Right: true, Cell: func(at list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return at.Age(v.Database.AsOf) })
	}, Number: func(at list.At, c ClusterRow) *float64 { return at.Seconds(c.databaseAsOf()) }},
	{Title: "OPERATION", Meaning: "Command whose passes run", Typical: 24, Min: 12, Drop: 3, Place: list.Dashboard, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.cell(func(v StatusView) list.Cell { return v.Locks.operation() })
	}},
	{Title: "CHANGED", Meaning: "Age of the last change in this row, in the dashboard", Typical: 7, Drop: 13, Right: true, Place: list.WideOptional, Cell: func(at list.At, c ClusterRow) list.Cell { return list.Text(at.Age(c.Changed)) }, Number: func(at list.At, c ClusterRow) *float64 { return at.Seconds(c.Changed) }},
	{Title: "READ", Meaning: "Age of the last read of the cluster, in the dashboard", Typical: 6, Drop: 14, Right: true, Place: list.WideOptional, Cell: func(at list.At, c ClusterRow) list.Cell { return list.Text(at.Age(c.AsOf)) }, Number: func(at list.At, c ClusterRow) *float64 { return at.Seconds(c.AsOf) }},
	{Title: "DC", Meaning: "Primary data center", Drop: 20, Place: list.Wide, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.cell(func(v StatusView) list.Cell { return list.Text(v.Database.DC) })
	}},
	{Title: "MODE", Meaning: "Redundancy mode of the database", Drop: 18, Place: list.Wide, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return v.live().RedundancyMode })
	}},
	{Title: "ENGINE", Meaning: "Storage engine of the database", Drop: 19, Place: list.Wide, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return v.live().StorageEngine })
	}},
	{Title: "DATA", Meaning: "Data in the database, without replicas", Typical: 7, Drop: 15, Right: true, Place: list.Wide, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return phrase.BytesOr(v.Database.StoredBytes, "") })
	}},
	{Title: "MOVING", Meaning: "Data that is being moved", Typical: 7, Drop: 16, Right: true, Place: list.Wide, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return phrase.BytesOr(v.Database.MovingBytes, "") })
	}},
	{Title: "RECOVERY-AGE", Meaning: "Time since the last recovery", Typical: 12, Drop: 17, Right: true, Place: list.Wide, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return phrase.SecondsOr(v.Database.RecoveryAge, "") })
	}},
	{Title: "CLIENTS", Meaning: "Clients of the database", Typical: 7, Drop: 21, Right: true, Place: list.Wide, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.of(func(v StatusView) string { return phrase.NumberOr(v.Database.Clients, "") })
	}},
	{Title: "PAUSED", Meaning: "Whether spec.skip excludes the cluster from passes", Typical: 6, Drop: 22, Place: list.Wide, Cell: func(_ list.At, c ClusterRow) list.Cell {
		return c.yesNo(func(v StatusView) *bool { return &v.Reconciliation.Skip })
	}},
	{Title: "UNREAD", Meaning: "Why the site cannot be read, with --contexts or --sites", Min: 20, Place: list.Optional, Below: true, Cell: func(_ list.At, c ClusterRow) list.Cell { return list.Text(c.unreadSite()) }},
	{Title: "HEALTH", Meaning: "Summary of the status, or why the cluster cannot be read", Typical: 40, Min: 20, Drop: 1, Place: list.Dashboard, Cell: func(_ list.At, c ClusterRow) list.Cell { return c.healthCell() }},
}

// of is the cell of a text of the status; "?" while it is unknown, and without a status.
func (c ClusterRow) of(text func(StatusView) string) list.Cell {
	return c.cell(func(v StatusView) list.Cell { return list.Known(text(v)) })
}

func (c ClusterRow) yesNo(answer func(StatusView) *bool) list.Cell {
	return c.cell(func(v StatusView) list.Cell { return list.YesNo(answer(v)) })
}

// cell is a cell of the status; "?" without one.
func (c ClusterRow) cell(of func(StatusView) list.Cell) list.Cell {
	if c.Status == nil {
		return list.Known("")
	}
	return of(*c.Status)
}

// Tone is how bad the state of a cluster is.
func (c ClusterRow) Tone() list.Tone {
	switch {
	case c.Unread != "":
		return list.Bad
	case c.Status == nil:
		return list.Unsure
	default:
		return c.Status.Tone()
	}
}

// unreadSite is why a site cannot be read; empty for a cluster that is not one of several sites.
func (c ClusterRow) unreadSite() string {
	if c.Site == "" {
		return ""
	}
	return c.Unread
}

func (c ClusterRow) stateCell() list.Cell {
	switch {
	case c.unreadSite() != "":
		return list.Text("unread").In(c.Tone())
	case c.Unread != "":
		return list.Text(StateUnknown).In(c.Tone())
	}
	return c.of(StatusView.Cell).In(c.Tone())
}

func (c ClusterRow) healthCell() list.Cell {
	switch {
	case c.Unread != "":
		return list.Text("cannot be read: " + c.Unread)
	case c.Status == nil:
		return list.Text("not read yet")
	default:
		return list.Text(c.Status.Summary)
	}
}

func (c ClusterRow) desiredGroups() *float64 {
	if c.Status == nil {
		return nil
	}
	return list.Quantity(&c.Status.ProcessGroups.Desired)
}

func (c ClusterRow) databaseAsOf() *time.Time {
	if c.Status == nil {
		return nil
	}
	return c.Status.Database.AsOf
}

// Tone is how bad the state of a cluster is. A database that stops its clients is as bad as one that is unavailable; one whose
// copies are not counted yet is unsure, and one with a node that is not ready is not good.
func (v StatusView) Tone() list.Tone {
	if v.Replacing != nil {
		return list.Busy
	}
	switch v.State {
	case StateHealthy:
		switch {
		case slices.ContainsFunc(v.Findings, func(f findings.View) bool { return f.Code == CodeNodeLost }):
			return list.Warn
		case v.isUncounted():
			return list.Unsure
		}
		return list.Good
	case StateDegraded, StateNotConfigured:
		if v.State == StateDegraded && v.StopsClients() {
			return list.Bad
		}
		return list.Warn
	default:
		return list.Bad
	}
}

// live returns the configuration of the database; an empty one while it is unknown.
func (v StatusView) live() fdb.Configuration {
	if v.Configuration.Live == nil {
		return fdb.Configuration{}
	}
	return *v.Configuration.Live
}

func ofDesired(n *int, desired int) string {
	return fmt.Sprintf("%s/%d", phrase.NumberOr(n, phrase.UnknownCell), desired)
}

// holder returns who holds the Lease, or the lock.
func (v LocksView) holder() list.Cell {
	switch {
	case v.LeaseHolder != "":
		return list.Text(v.LeaseHolder)
	case !v.LeaseRead, v.Used && !v.Read:
		return list.Known("")
	case !v.Used:
		return list.Text("")
	case v.Expired, v.Owner == "":
		return list.Text("free")
	default:
		return list.Text(v.Owner)
	}
}

// operation returns the command of the operation; nothing for none.
func (v LocksView) operation() list.Cell {
	switch {
	case v.Operation != nil:
		return list.Known(v.Operation.Command)
	case !v.LeaseRead:
		return list.Known("")
	default:
		return list.Text("")
	}
}
