package readings

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// KeepField is the field of the spec that keeps process groups from being replaced and removed.
const KeepField = string(v1beta2.ExtensionCancelReplacements)

// KeptFacets are the facets that ObjectsGo reads besides the resource.
const KeptFacets = plan.Pods | plan.Volumes

// ObjectsGo returns which object of a process group is deleted, or being deleted, so that data
// would move to a volume that does not stay; empty when the objects stay. A missing pod is
// recreated, and finds its volume.
func ObjectsGo(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	pod, claim := s.Pod(g), s.Volumes[g.PVCName(s.Cluster)]
	switch {
	case claim != nil && claim.DeletionTimestamp != nil:
		return "its PVC is being deleted"
	case claim == nil && g.ProcessClass.IsStateful():
		return "its PVC is deleted"
	case pod != nil && pod.DeletionTimestamp != nil:
		return "its pod is being deleted"
	}
	return ""
}

// KeptNow reports whether the spec keeps a process group that is marked for removal, and its
// objects stay: nothing is drained or deleted of it until its mark is reverted, or until the
// contradiction is resolved that prevents that.
func KeptNow(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return s.Cluster.KeepsFromReplacement(g.ProcessGroupID) && ObjectsGo(s, g) == ""
}

// KeepsAnyMarked reports whether the spec keeps a process group that is marked for removal.
func KeepsAnyMarked(s plan.Snapshot) bool {
	return slices.ContainsFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
		return g.IsMarkedForRemoval() && s.Cluster.KeepsFromReplacement(g.ProcessGroupID)
	})
}

// ListedForRemoval returns the field of the spec that lists a process group for removal; empty
// for none.
func ListedForRemoval(c *v1beta2.FoundationDBCluster, id v1beta2.ProcessGroupID) string {
	switch {
	case slices.Contains(c.Spec.ProcessGroupsToRemoveWithoutExclusion, id):
		return "spec.processGroupsToRemoveWithoutExclusion"
	case slices.Contains(c.Spec.ProcessGroupsToRemove, id):
		return "spec.processGroupsToRemove"
	}
	return ""
}
