package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// IsUnready reports whether the conditions of a pod have Ready as false. When a node stops
// reporting, Kubernetes sets that on its pods, and leaves the last state of their containers.
func IsUnready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue
	})
}

// Serves reports whether a pod runs, is not being deleted, and is not unready.
func Serves(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning && !IsUnready(pod)
}
