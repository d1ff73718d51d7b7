package readings

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Options are settings of a pass that no field of the spec has.
type Options struct {
	// ReplaceOnSecurityContextChange also replaces process groups whose pods were created with
	// another file group, user or group. Without it such pods are recreated, and keep their
	// volumes. Default false.
	ReplaceOnSecurityContextChange bool
	// Adopt adopts pods and PVCs as they are, before anything is replaced or recreated because
	// of them. Default false.
	Adopt bool
}

// PodDelay is the shortest useful wait for a pod to be scheduled, started, or to load a file. The
// operator waits 15 s; this tool has a user who waits for it.
const PodDelay = 5 * time.Second

// RequestedByUser is the reason of actions that a command requests directly.
const RequestedByUser = "requested by a user"

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
