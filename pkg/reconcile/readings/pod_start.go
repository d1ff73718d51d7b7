package readings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// NeverStarted reports whether the main container of a pod has never run, so that no process of the pod
// can hold anything. Kubernetes keeps a pod Pending while any of its containers has not started, so
// the phase alone proves nothing once containers have a state.
func NeverStarted(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodPending {
		return false
	}
	return !slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.Name == v1beta2.ContainerMain && (c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil || c.RestartCount > 0)
	})
}

// imageReasons are the reasons of a waiting container that time does not resolve: its image, or what its
// configuration refers to, must be corrected. The first attempt to pull is not among them.
var imageReasons = map[string]bool{"ImagePullBackOff": true, "InvalidImageName": true, "ErrImageNeverPull": true, "ImageInspectError": true, "CreateContainerConfigError": true}

// startingReasons are those of a container that is about to start.
var startingReasons = map[string]bool{"ContainerCreating": true, "PodInitializing": true}

// StartFailure describes why a container of a pod does not start; empty while none is known. Stuck is
// true if time does not resolve it.
func StartFailure(pod *corev1.Pod) (why string, stuck bool) {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		w := c.State.Waiting
		if w == nil || startingReasons[w.Reason] {
			continue
		}
		return fmt.Sprintf("pod %s cannot start container %s: %s, image %s", pod.Name, c.Name, cmp.Or(w.Reason, "it waits"), ImageOf(pod, c)), MustBeCorrected(w)
	}
	if no := NoNodeFits(pod); no != "" {
		return fmt.Sprintf("pod %s is not scheduled: %s", pod.Name, no), false
	}
	return "", false
}

// NoNodeFits returns the scheduler's reasons for which a pod has no node; empty for a pod that has one, and
// for one that the scheduler has not tried yet. The rest of its message, that evicting other pods or
// releasing claims would not help either, is left out.
func NoNodeFits(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse {
			continue
		}
		reasons := strings.Join(strings.Fields(c.Message), " ")
		for _, tail := range []string{" preemption:", " no new claims to deallocate"} {
			reasons, _, _ = strings.Cut(reasons, tail)
		}
		return strings.TrimSuffix(reasons, ".")
	}
	return ""
}

// MustBeCorrected reports whether a container waits for what time does not resolve.
func MustBeCorrected(w *corev1.ContainerStateWaiting) bool {
	return imageReasons[w.Reason]
}

// ImageOf returns the image that the spec of a pod names for a container.
func ImageOf(pod *corev1.Pod, status corev1.ContainerStatus) string {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if c.Name == status.Name {
			return cmp.Or(c.Image, status.Image)
		}
	}
	return status.Image
}
