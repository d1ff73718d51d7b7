package stages

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// deletablePod is a group's pod if it may be deleted to be made anew; nil otherwise. It
// may not when the group is on its way out, since nobody would make it anew; when it
// terminates already; when a person isolated it to look into it; and when its labels say
// that it is another group's.
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
