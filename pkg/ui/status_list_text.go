package ui

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// StatusListView is the document of `status -A`.
type StatusListView struct {
	Document
	Items []StatusView `json:"items"`
}

// NewStatusListView makes the document.
func NewStatusListView(m Metadata, asOf time.Time, items []StatusView) StatusListView {
	return StatusListView{Document: NewDocument("ClusterStatusList", m, asOf, SourceLive), Items: orEmpty(items)}
}

// ListOptions is how a list is printed.
type ListOptions struct {
	Wide, NoHeaders, Absolute bool
	// Now is what ages are counted to.
	Now time.Time
}

// header leaves out what is not to be shown.
func (o ListOptions) header(names []string, wide ...string) []string {
	if o.NoHeaders {
		return nil
	}
	if o.Wide {
		return slices.Concat(names, wide)
	}
	return names
}

// WriteStatusList prints a row per cluster.
func WriteStatusList(w io.Writer, v StatusListView, o ListOptions) error {
	t := Table{Header: o.header(
		[]string{"NAMESPACE", "NAME", "VERSION", "STATE", "AVAILABLE", "TOLERANCE", "REPLICATION", "COORDS", "PGS", "EXCLUDING", "REMOVING", "RECONCILED", "LOCK", "ASOF"},
		"DC", "MODE", "ENGINE", "DATA", "MOVING", "RECOVERY-AGE", "CLIENTS", "PAUSED")}
	for _, s := range v.Items {
		row := s.row(o)
		if o.Wide {
			row = append(row, s.wide()...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Write(w)
}

func (v StatusView) row(o ListOptions) []string {
	g, d := v.ProcessGroups, v.Database
	excluding := 0
	if g.Removing > g.Excluded {
		excluding = g.Removing - g.Excluded
	}
	return []string{
		v.Metadata.Namespace, v.Metadata.Cluster, orUnknown(d.Version), string(v.State), yesNo(d.Available),
		fmt.Sprintf("%s/%d", numberOr(v.FaultTolerance.Zones), v.FaultTolerance.Desired),
		fmt.Sprintf("%s/%d", numberOr(d.Replicas), d.ReplicasDesired),
		fmt.Sprintf("%s/%d", numberOr(v.Coordinators.Reachable), len(v.Coordinators.Items)),
		fmt.Sprintf("%d/%d", g.Reconciled, g.Desired), strconv.Itoa(excluding), strconv.Itoa(g.Removing),
		fmt.Sprintf("%d/%d", v.Reconciliation.ReconciledGeneration, v.Reconciliation.Generation),
		v.Locks.cell(), o.time(d.AsOf),
	}
}

func (v LocksView) cell() string {
	switch {
	case v.LeaseHolder != "":
		return strings.ReplaceAll(v.LeaseHolder, " ", "_")
	case !v.LeaseRead:
		return unknown
	case !v.Used:
		return nothing
	case !v.Read:
		return unknown
	case v.Expired, v.Owner == "":
		return "free"
	default:
		return v.Owner
	}
}

func (v StatusView) wide() []string {
	d, live := v.Database, fdb.Configuration{}
	if v.Configuration.Live != nil {
		live = *v.Configuration.Live
	}
	age := unknown
	if d.RecoveryAge != nil {
		age = duration.HumanDuration(time.Duration(*d.RecoveryAge) * time.Second)
	}
	return []string{
		orNothing(d.DC), orUnknown(live.RedundancyMode), orUnknown(live.StorageEngine), bytesOr(d.StoredBytes), bytesOr(d.MovingBytes), age,
		numberOr(d.Clients), yesNo(&v.Reconciliation.Skip),
	}
}

// time is a moment as an age, or as it is.
func (o ListOptions) time(t *time.Time) string {
	switch {
	case t == nil:
		return unknown
	case o.Absolute:
		return t.Format(time.RFC3339)
	default:
		return duration.HumanDuration(o.Now.Sub(*t))
	}
}
