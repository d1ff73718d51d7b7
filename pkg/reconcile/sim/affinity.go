package sim

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// domain is the value of a topology key of a node; empty for none.
func (w *World) domain(node, key string) string {
	if key == corev1.LabelHostname {
		return node
	}
	return w.NodeLabels[node][key]
}

// selects reports whether a term selects a pod. Terms name no namespaces: there is one.
func selects(t corev1.PodAffinityTerm, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// beside is how many pods that a term selects run in the fault domain of a node.
func (w *World) beside(t corev1.PodAffinityTerm, node string) (n int) {
	domain := w.domain(node, t.TopologyKey)
	for _, other := range w.Pods {
		if on := other.Spec.NodeName; on != "" && domain != "" && w.domain(on, t.TopologyKey) == domain && selects(t, other) {
			n++
		}
	}
	return n
}

// anywhere reports whether any running pod is selected by a term.
func (w *World) anywhere(t corev1.PodAffinityTerm) bool {
	for _, other := range w.Pods {
		if other.Spec.NodeName != "" && selects(t, other) {
			return true
		}
	}
	return false
}

// affinities are the rules of a pod about other pods, with all fields set.
func affinities(pod *corev1.Pod) (near corev1.PodAffinity, far corev1.PodAntiAffinity) {
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		near = *a.PodAffinity
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		far = *a.PodAntiAffinity
	}
	return near, far
}

// tolerated reports whether a pod may run on a node by the required rules of this pod and of all
// others. A pod may be the first that its own rule selects.
func (w *World) tolerated(pod *corev1.Pod, node string) bool {
	near, far := affinities(pod)
	for _, t := range near.RequiredDuringSchedulingIgnoredDuringExecution {
		first := !w.anywhere(t) && selects(t, pod)
		if w.domain(node, t.TopologyKey) == "" || (!first && w.beside(t, node) == 0) {
			return false
		}
	}
	if slices.ContainsFunc(far.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool { return w.beside(t, node) > 0 }) {
		return false
	}
	for _, other := range w.Pods {
		_, far := affinities(other)
		on := other.Spec.NodeName
		if on != "" && slices.ContainsFunc(far.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool {
			domain := w.domain(on, t.TopologyKey)
			return domain != "" && domain == w.domain(node, t.TopologyKey) && selects(t, pod)
		}) {
			return false
		}
	}
	return true
}

// liking is how much a pod prefers a node by its preferred rules about other pods.
func (w *World) liking(pod *corev1.Pod, node string) (n int) {
	near, far := affinities(pod)
	for _, t := range near.PreferredDuringSchedulingIgnoredDuringExecution {
		n += int(t.Weight) * w.beside(t.PodAffinityTerm, node)
	}
	for _, t := range far.PreferredDuringSchedulingIgnoredDuringExecution {
		n -= int(t.Weight) * w.beside(t.PodAffinityTerm, node)
	}
	return n
}
