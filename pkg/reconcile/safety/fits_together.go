package safety

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// near reports whether a node is where the pod's required affinity to other pods lets it run. As
// the scheduler does, it counts pods that match all terms, wherever they run, and lets a pod
// that matches its own terms be the first. Terms with namespace selectors are not evaluated.
func (p Places) near(node *corev1.Node, pod *corev1.Pod) (near, known bool) {
	terms := attractedTo(pod)
	if len(terms) == 0 {
		return true, true
	}
	var matching []*corev1.Pod
	for _, other := range p.Pods {
		matches, known := concernedByAll(terms, pod, other)
		if !known {
			return false, false
		}
		if matches && p.Nodes[other.Spec.NodeName] != nil {
			matching = append(matching, other)
		}
	}
	if len(matching) == 0 {
		if first, known := concernedByAll(terms, pod, pod); !first || !known {
			return false, known
		}
	}
	for _, term := range terms {
		domain, has := node.Labels[term.TopologyKey]
		there := func(other *corev1.Pod) bool {
			value, has := p.Nodes[other.Spec.NodeName].Labels[term.TopologyKey]
			return has && value == domain
		}
		if !has || (len(matching) > 0 && !slices.ContainsFunc(matching, there)) {
			return false, true
		}
	}
	return true, true
}

func attractedTo(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func concernedByAll(terms []corev1.PodAffinityTerm, of, other *corev1.Pod) (all, known bool) {
	for _, term := range terms {
		if matches, known := concerns(term, of, other); !matches || !known {
			return false, known
		}
	}
	return true, true
}

// ElsewhereTogether checks whether new pods like these could be scheduled, as Elsewhere does. Those
// that have to share a fault domain, by a required affinity to their own distribution key, only fit
// together: a bucket leaves its nodes as a whole. Larger pods are placed first, each on the first
// node that accepts it. All others are checked as if each were the only one.
func (p Places) ElsewhereTogether(pods []*corev1.Pod) []Fit {
	fits := make([]Fit, len(pods))
	buckets := map[string][]int{}
	for i, pod := range pods {
		key := pod.Labels[v1beta2.LabelDistributionKey]
		if key == "" || len(attractedTo(pod)) == 0 {
			fits[i] = p.Elsewhere(pod)
			continue
		}
		buckets[key] = append(buckets[key], i)
	}
	for key, members := range buckets {
		fit := p.bucket(key, pods, members)
		for _, i := range members {
			fits[i] = fit
		}
	}
	return fits
}

// bucket checks whether all of some pods fit, which have a distribution key in common.
func (p Places) bucket(key string, pods []*corev1.Pod, members []int) Fit {
	inOrder := slices.Clone(members)
	slices.SortStableFunc(inOrder, func(a, b int) int {
		cpu, other := objects.PodRequests(pods[a])[corev1.ResourceCPU], objects.PodRequests(pods[b])[corev1.ResourceCPU]
		return other.Cmp(cpu)
	})
	p.Pods = slices.Clone(p.Pods)
	for placed, i := range inOrder {
		fit, node := p.place(pods[i])
		if node == "" {
			if fit.Fits != nil && placed > 0 {
				fit.Reason = fmt.Sprintf("only %d of %s with the distribution key %s: %s", placed, phrase.Count(len(members), "pod"), key, fit.Reason)
			}
			return fit
		}
		moved := pods[i].DeepCopy()
		moved.Spec.NodeName = node
		p.Pods = append(p.Pods, moved)
	}
	return Fit{Fits: new(true)}
}
