package stagestest

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// LosePod deletes the pod of the first storage group.
func LosePod(s *plan.Snapshot) { delete(s.Pods, FirstOf(*s, "storage").PodName(s.Cluster)) }

// LoseClaim deletes the PVC of the first storage group.
func LoseClaim(s *plan.Snapshot) { delete(s.Volumes, FirstOf(*s, "storage").PVCName(s.Cluster)) }

// MarkFirst marks the first storage group for removal.
func MarkFirst(s *plan.Snapshot) { FirstOf(*s, "storage").MarkForRemoval(Noon) }

// ExcludeFirst marks the first storage group for removal and as excluded.
func ExcludeFirst(s *plan.Snapshot) {
	MarkFirst(s)
	FirstOf(*s, "storage").SetExcluded(Noon)
}

// All applies edits in order.
func All(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, edit := range edits {
			edit(s)
		}
	}
}

// PublicIPFromService makes the pods get their addresses from services.
func PublicIPFromService(s *plan.Snapshot) {
	s.Cluster.Spec.Routing.PublicIPSource = new(v1beta2.PublicIPSourceService)
}
