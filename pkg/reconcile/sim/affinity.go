package sim

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// domain is the value of a topology key of a node; empty for none.
func (w *Cluster) domain(node, key string) string {
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
func (w *Cluster) beside(t corev1.PodAffinityTerm, node string) int {
	return w.spread(t)[w.domain(node, t.TopologyKey)]
}

// spread is how many pods that a term selects run in each fault domain.
func (w *Cluster) spread(t corev1.PodAffinityTerm) map[string]int {
	found := map[string]int{}
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return found
	}
	for _, other := range w.Pods {
		if domain := w.domain(other.Spec.NodeName, t.TopologyKey); domain != "" && selector.Matches(labels.Set(other.Labels)) {
			found[domain]++
		}
	}
	return found
}

// anywhere reports whether any running pod is selected by a term.
func (w *Cluster) anywhere(t corev1.PodAffinityTerm) bool {
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
func (w *Cluster) tolerated(pod *corev1.Pod, node string) bool {
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

// preference is a preferred rule of a pod about other pods.
type preference struct {
	weight int
	key    string
	// beside is how many of those pods run in each fault domain.
	beside map[string]int
}

// preferences are those of a pod.
func (w *Cluster) preferences(pod *corev1.Pod) (all []preference) {
	near, far := affinities(pod)
	for _, t := range near.PreferredDuringSchedulingIgnoredDuringExecution {
		all = append(all, preference{weight: int(t.Weight), key: t.PodAffinityTerm.TopologyKey, beside: w.spread(t.PodAffinityTerm)})
	}
	for _, t := range far.PreferredDuringSchedulingIgnoredDuringExecution {
		all = append(all, preference{weight: -int(t.Weight), key: t.PodAffinityTerm.TopologyKey, beside: w.spread(t.PodAffinityTerm)})
	}
	return all
}

// liking is how much a pod with these preferences prefers a node.
func (w *Cluster) liking(preferences []preference, node string) (n int) {
	for _, p := range preferences {
		n += p.weight * p.beside[w.domain(node, p.key)]
	}
	return n
}
