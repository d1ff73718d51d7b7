package planned

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

// PlanListView is what passes over a cluster, its backups and its restores would do, in their
// order.
type PlanListView struct {
	inspect.Document
	Plans []PlanView `json:"plans"`
	// Pruned are the resources that the manifests do not have any more; absent without --prune.
	Pruned []Pruned `json:"pruned,omitempty"`
}

// NewPlanList makes the list of plans that were made one after the other. It is as old as the
// oldest of them.
func NewPlanList(m inspect.Metadata, plans []PlanView) PlanListView {
	v := PlanListView{Document: inspect.NewDocument("PlanList", m, time.Time{}, inspect.SourceLive), Plans: inspect.OrEmpty(plans)}
	for _, p := range plans {
		if v.AsOf == nil || p.AsOf != nil && p.AsOf.Before(*v.AsOf) {
			v.AsOf = p.AsOf
		}
	}
	return v
}
