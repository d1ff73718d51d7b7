package stagestest

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Kept makes the spec keep process groups from being replaced.
func Kept(ids ...v1beta2.ProcessGroupID) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Cluster.Spec.CancelReplacementsForInstance = append(s.Cluster.Spec.CancelReplacementsForInstance, ids...)
	}
}

// InForce adds exclusions as a transaction reads them.
func InForce(targets ...string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Coordination.ExclusionsRead = true
		s.Coordination.Exclusions = append(s.Coordination.Exclusions, targets...)
	}
}
