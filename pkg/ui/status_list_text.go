package ui

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// StatusListView is the document of `status -A`.
type StatusListView struct {
	inspect.Document
	Items []inspect.StatusView `json:"items"`
}

// NewStatusListView makes the document.
func NewStatusListView(m inspect.Metadata, asOf time.Time, items []inspect.StatusView) StatusListView {
	return StatusListView{Document: inspect.NewDocument("ClusterStatusList", m, asOf, inspect.SourceLive), Items: inspect.OrEmpty(items)}
}

// ListOptions is how a list is printed.
type ListOptions struct {
	Wide, NoHeaders, Absolute bool
	// Now is what ages are counted to.
	Now time.Time
}

// WriteStatusList prints a row per cluster.
func WriteStatusList(w io.Writer, v StatusListView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "NAMESPACE", Min: 8},
		{Name: "NAME", Min: 12},
		{Name: "VERSION", Drop: 5},
		{Name: "STATE"},
		{Name: "AVAILABLE", Drop: 1},
		{Name: "TOLERANCE", Drop: 4},
		{Name: "REPLICATION", Drop: 8},
		{Name: "COORDS", Drop: 6},
		{Name: "PGS", Drop: 2},
		{Name: "EXCLUDING", Drop: 9},
		{Name: "REMOVING", Drop: 7},
		{Name: "RECONCILED", Drop: 3},
		{Name: "LOCK", Drop: 10, Min: 10},
		{Name: "ASOF", Drop: 5},
	},
		"DC", "MODE", "ENGINE", "DATA", "MOVING", "RECOVERY-AGE", "CLIENTS", "PAUSED")
	for _, s := range v.Items {
		row := statusRow(s, o)
		if o.Wide {
			row = append(row, statusWide(s)...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Write(w)
}

func statusRow(v inspect.StatusView, o ListOptions) []string {
	g, d := v.ProcessGroups, v.Database
	excluding := 0
	if g.Removing > g.Excluded {
		excluding = g.Removing - g.Excluded
	}
	return []string{
		v.Metadata.Namespace, v.Metadata.Cluster, phrase.Or(d.Version, phrase.UnknownCell), v.Cell(), phrase.YesNo(d.Available, phrase.UnknownCell),
		fmt.Sprintf("%s/%d", phrase.NumberOr(v.FaultTolerance.Zones, phrase.UnknownCell), v.FaultTolerance.Desired),
		fmt.Sprintf("%s/%d", phrase.NumberOr(d.Replicas, phrase.UnknownCell), d.ReplicasDesired),
		fmt.Sprintf("%s/%d", phrase.NumberOr(v.Coordinators.Reachable, phrase.UnknownCell), len(v.Coordinators.Items)),
		fmt.Sprintf("%d/%d", g.Reconciled, g.Desired), strconv.Itoa(excluding), strconv.Itoa(g.Removing),
		fmt.Sprintf("%d/%d", v.Reconciliation.ReconciledGeneration, v.Reconciliation.Generation),
		locksCell(v.Locks), o.time(d.AsOf),
	}
}

func locksCell(v inspect.LocksView) string {
	switch {
	case v.LeaseHolder != "":
		return strings.ReplaceAll(layout.Clean(v.LeaseHolder), " ", "_")
	case !v.LeaseRead:
		return phrase.UnknownCell
	case !v.Used:
		return phrase.Nothing
	case !v.Read:
		return phrase.UnknownCell
	case v.Expired, v.Owner == "":
		return "free"
	default:
		return v.Owner
	}
}

func statusWide(v inspect.StatusView) []string {
	d, live := v.Database, fdb.Configuration{}
	if v.Configuration.Live != nil {
		live = *v.Configuration.Live
	}
	age := phrase.UnknownCell
	if d.RecoveryAge != nil {
		age = phrase.Seconds(*d.RecoveryAge)
	}
	return []string{
		phrase.Or(d.DC, phrase.Nothing), phrase.Or(live.RedundancyMode, phrase.UnknownCell), phrase.Or(live.StorageEngine, phrase.UnknownCell), phrase.BytesOr(d.StoredBytes, phrase.UnknownCell), phrase.BytesOr(d.MovingBytes, phrase.UnknownCell), age,
		phrase.NumberOr(d.Clients, phrase.UnknownCell), phrase.YesNo(&v.Reconciliation.Skip, phrase.UnknownCell),
	}
}

// time is a moment as an age, or as it is.
func (o ListOptions) time(t *time.Time) string {
	switch {
	case t == nil:
		return phrase.UnknownCell
	case o.Absolute:
		return t.Format(time.RFC3339)
	default:
		return phrase.Duration(o.Now.Sub(*t))
	}
}
