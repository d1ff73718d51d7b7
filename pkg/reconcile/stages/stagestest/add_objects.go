package stagestest

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// LosePod deletes the pod of the first storage group, and loseClaim its PVC.
func LosePod(s *plan.Snapshot) { delete(s.Pods, FirstOf(*s, "storage").PodName(s.Cluster)) }

func LoseClaim(s *plan.Snapshot) { delete(s.Volumes, FirstOf(*s, "storage").PVCName(s.Cluster)) }

func MarkFirst(s *plan.Snapshot) { FirstOf(*s, "storage").MarkForRemoval(Noon) }

func ExcludeFirst(s *plan.Snapshot) {
	MarkFirst(s)
	FirstOf(*s, "storage").SetExcluded(Noon)
}

func All(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		for _, edit := range edits {
			edit(s)
		}
	}
}
