package status

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// adoptOrphans adds process groups to the status of which only an object exists: a pod, a PVC or a
// service with the cluster's labels and an ID that is not in the status. This restores a lost
// status.
func adoptOrphans(s *plan.Snapshot) {
	if groups := readings.Orphans(*s); len(groups) > 0 {
		s.Cluster = plan.AddGroups{Groups: groups, At: s.Now}.Apply(*s).Cluster
	}
}
