package status

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// missingPod: the group has no pod. SetCondition ignores that for a group that no longer
// needs one.
var missingPod = condition{v1beta2.ConditionMissingPod, func(f GroupFacts) (verdict, error) {
	return verdictOf(f.pod == nil), nil
}}

// resourcesTerminating: the group is excluded and its pod is deleted or terminating. It is
// never cleared; the group is removed from the status instead.
var resourcesTerminating = condition{v1beta2.ConditionResourcesTerminating, func(f GroupFacts) (verdict, error) {
	if f.Group.IsRemovable() && (f.pod == nil || f.pod.DeletionTimestamp != nil) {
		return holds, nil
	}
	return keep, nil
}}

// podPending: the pod has not started.
var podPending = condition{v1beta2.ConditionPodPending, func(f GroupFacts) (verdict, error) {
	return verdictOf(f.isPending()), nil
}}

func (f GroupFacts) isPending() bool { return f.pod.Status.Phase == corev1.PodPending }

// podFailing: the pod failed, one of its containers is not ready, or it does not terminate.
var podFailing = condition{v1beta2.ConditionPodFailing, func(f GroupFacts) (verdict, error) {
	if f.pod.DeletionTimestamp != nil && f.Group.IsRemovable() {
		return keep, nil
	}
	if f.pod.Status.Phase == corev1.PodFailed || f.endsTooSlowly() {
		return holds, nil
	}
	for _, container := range f.pod.Status.ContainerStatuses {
		if !container.Ready {
			return holds, nil
		}
	}
	return cleared, nil
}}

// endsTooSlowly reports whether the pod has been terminating for longer than the spec
// allows, so that it counts as failed.
func (f GroupFacts) endsTooSlowly() bool {
	ends := f.pod.DeletionTimestamp
	return ends != nil && f.S.Now.Sub(ends.Time) > f.S.Cluster.FailedPodDuration()
}
