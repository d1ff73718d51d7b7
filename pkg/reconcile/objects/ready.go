package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// IsUnready reports whether a pod is said not to be ready. When a node is not heard of any
// more, Kubernetes says so of its pods, and leaves what it last knew of their containers.
func IsUnready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue
	})
}
