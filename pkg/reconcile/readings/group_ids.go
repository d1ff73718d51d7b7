package readings

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// IDsOf returns the IDs of process groups, in their order.
func IDsOf(groups []*v1beta2.ProcessGroupStatus) []v1beta2.ProcessGroupID {
	all := make([]v1beta2.ProcessGroupID, len(groups))
	for i, g := range groups {
		all[i] = g.ProcessGroupID
	}
	return all
}

// IsOwnAndRemoved reports whether a process group is of this cluster by its ID and not in the
// status any more.
func IsOwnAndRemoved(s plan.Snapshot, id v1beta2.ProcessGroupID) bool {
	prefix, _, _, err := id.Split()
	return err == nil && prefix == s.Cluster.Spec.ProcessGroupIDPrefix && s.Cluster.ProcessGroup(id) == nil
}
