package inspect

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// ReplacingView counts the process groups that are being replaced.
type ReplacingView struct {
	// Marked is how many are marked for removal now, and Done how many of the operation's targets have been removed
	// before.
	Marked int `json:"marked"`
	Done   int `json:"done"`
	// Total is how many the operation replaces; without one, Marked.
	Total int `json:"total"`
}

// Text describes the replacement: "replacing 2 of 3".
func (v ReplacingView) Text() string { return "replacing " + v.count() }

func (v ReplacingView) count() string {
	return fmt.Sprintf("%d of %d", min(v.Done+v.Marked, v.Total), v.Total)
}

// replacing returns the replacement of process groups that is all there is to report of a cluster: all data has its copies,
// as many zones as desired may fail, and nothing but the data that moves keeps the database from calling itself
// healthy. A healthy database is headed by a replacement only while a run carries it out. Nil for none.
func (f Facts) replacing(v StatusView) *ReplacingView {
	marked := v.ProcessGroups.Removing
	operation := v.Locks.Operation
	active := operation != nil && operation.Active
	switch {
	case marked == 0, len(v.Deletions) > 0, v.Database.Replicas == nil, v.FaultTolerance.Zones == nil:
		return nil
	case v.State == StateHealthy && active:
	case v.State == StateDegraded && f.onlyMovesData(v):
	default:
		return nil
	}
	r := &ReplacingView{Marked: marked, Total: marked}
	if active && operation.Progress.Targets >= marked {
		r.Done, r.Total = operation.Progress.Reached, operation.Progress.Targets
	}
	return r
}

// onlyMovesData reports whether a degraded database is degraded only because data moves, and because processes that never
// reported before start without a problem.
func (f Facts) onlyMovesData(v StatusView) bool {
	if len(restrictionReasons(v.Restrictions)) > 0 {
		return false
	}
	switch v.Database.DataFault() {
	case NoFault, FaultDataState:
	case FaultUnhealthy, FaultFewReplicas, FaultReplicationUnknown, FaultNotReplicated:
		return false
	}
	return !slices.ContainsFunc(f.withoutStarting().Degradations(v), func(d Degradation) bool { return d.Code != CodeReplication })
}

// withoutStarting returns the facts without the process groups that never reported and start without a problem.
func (f Facts) withoutStarting() Facts {
	cluster := *f.Cluster
	cluster.Status.ProcessGroups = slices.DeleteFunc(slices.Clone(f.Groups()), func(g *v1beta2.ProcessGroupStatus) bool {
		return !g.IsMarkedForRemoval() && g.FaultDomain == "" && f.isNotReporting(g) && f.blocker(successors{groups: []*v1beta2.ProcessGroupStatus{g}}) == nil
	})
	f.Cluster = &cluster
	return f
}

// replacingWords are the state of a cluster whose process groups are being replaced.
func (v StatusView) replacingWords() string {
	words := fmt.Sprintf("%s, %s", v.Database.replicationWords(), Losable(*v.FaultTolerance.Zones))
	if v.Database.MovingBytes != nil && *v.Database.MovingBytes > 0 {
		words += "; " + phrase.Bytes(*v.Database.MovingBytes) + " in flight"
	}
	return words
}
