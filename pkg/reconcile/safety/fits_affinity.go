package safety

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// selects reports whether the pod's node selector and one of its required node affinity terms
// match the node.
func selects(node *corev1.Node, pod *corev1.Pod) bool {
	for key, value := range pod.Spec.NodeSelector {
		if node.Labels[key] != value {
			return false
		}
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	return slices.ContainsFunc(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return takes(t, node)
	})
}

// takes reports whether a node matches all requirements of a term; an empty term matches none.
func takes(t corev1.NodeSelectorTerm, node *corev1.Node) bool {
	if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
		return false
	}
	asks := func(of map[string]string) func(corev1.NodeSelectorRequirement) bool {
		return func(r corev1.NodeSelectorRequirement) bool { return !meets(r, of) }
	}
	return !slices.ContainsFunc(t.MatchExpressions, asks(node.Labels)) &&
		!slices.ContainsFunc(t.MatchFields, asks(map[string]string{"metadata.name": node.Name}))
}

// meets reports whether a requirement is met; one of an unknown kind is not.
func meets(r corev1.NodeSelectorRequirement, of map[string]string) bool {
	value, there := of[r.Key]
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return there && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !there || !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpExists:
		return there
	case corev1.NodeSelectorOpDoesNotExist:
		return !there
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		return compares(r, value)
	default:
		return false
	}
}

func compares(r corev1.NodeSelectorRequirement, value string) bool {
	if len(r.Values) != 1 {
		return false
	}
	have, err := strconv.ParseInt(value, 10, 64)
	limit, limitErr := strconv.ParseInt(r.Values[0], 10, 64)
	if err != nil || limitErr != nil {
		return false
	}
	return (r.Operator == corev1.NodeSelectorOpGt && have > limit) || (r.Operator == corev1.NodeSelectorOpLt && have < limit)
}

// apart reports whether a pod in the node's topology domain conflicts with this one, by the
// anti-affinity of either. Terms with namespace selectors are not evaluated.
func (p Places) apart(node *corev1.Node, pod *corev1.Pod) (apart, known bool) {
	for _, other := range p.Pods {
		place := p.Nodes[other.Spec.NodeName]
		if place == nil {
			continue
		}
		for _, pair := range [][2]*corev1.Pod{{pod, other}, {other, pod}} {
			for _, term := range keepsAway(pair[0]) {
				zone, there := node.Labels[term.TopologyKey]
				if !there || place.Labels[term.TopologyKey] != zone {
					continue
				}
				matches, known := concerns(term, pair[0], pair[1])
				if matches || !known {
					return matches, known
				}
			}
		}
	}
	return false, true
}

func keepsAway(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// concerns reports whether a term of one pod selects another.
func concerns(t corev1.PodAffinityTerm, of, other *corev1.Pod) (matches, known bool) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil || t.NamespaceSelector != nil || len(t.MatchLabelKeys)+len(t.MismatchLabelKeys) > 0 {
		return false, false
	}
	namespaces := t.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{of.Namespace}
	}
	return slices.Contains(namespaces, other.Namespace) && selector.Matches(labels.Set(other.Labels)), true
}
