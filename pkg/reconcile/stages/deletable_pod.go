package stages

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// deletablePod returns a group's pod if it may be deleted and recreated; nil otherwise. It
// may not when the group is being removed, since it would not be recreated; when it already
// terminates; when a user isolated it for debugging; and when its labels name another group.
func deletablePod(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) *corev1.Pod {
	pod := s.Pod(g)
	switch {
	case pod == nil, g.IsGone(), g.HasCondition(v1beta2.ConditionResourcesTerminating):
		return nil
	case pod.DeletionTimestamp != nil, pod.Annotations[v1beta2.AnnotationIsolateProcessGroup] == "true":
		return nil
	case pod.Labels[s.Cluster.ProcessGroupIDLabels()[0]] != string(g.ProcessGroupID):
		return nil
	}
	return pod
}

func thisPod(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) plan.PodOfGroup {
	return plan.PodOfGroup{Group: g.ProcessGroupID, Name: pod.Name, UID: pod.UID}
}
