package safety

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// Fit is whether a copy of a running pod could be scheduled on another node.
type Fit struct {
	// Fits is nil when unknown.
	Fits *bool
	// Reason is why not, or why that is unknown; empty when it fits.
	Reason string
}

// Places are the nodes that a pod could be scheduled on, and the pods that run there.
type Places struct {
	// Nodes are all nodes; Pods are those of all namespaces that have not ended.
	Nodes map[string]*corev1.Node
	Pods  []*corev1.Pod
	// Away are the names of nodes that will soon accept no pods.
	Away []string
	// Hidden is why nodes or pods are unknown; empty when they are known.
	Hidden string
}

// Elsewhere checks whether a new pod like this one could be scheduled. It checks what the
// scheduler checks first: that the node is schedulable, its taints, the node selector and
// required node affinity, free resources for the pod's requests, and required affinity and
// anti-affinity between pods. Rules that it does not evaluate, as volumes bound to a topology and
// spread constraints, are reported as unknown.
func (p Places) Elsewhere(pod *corev1.Pod) Fit {
	fit, _ := p.place(pod)
	return fit
}

// place returns the same, and the first node that accepts the pod.
func (p Places) place(pod *corev1.Pod) (Fit, string) {
	if p.Hidden != "" {
		return Fit{Reason: p.Hidden}, ""
	}
	if beyond := beyondUs(pod); beyond != "" {
		return Fit{Reason: beyond}, ""
	}
	why := map[string]int{}
	unknown := ""
	for _, name := range slices.Sorted(maps.Keys(p.Nodes)) {
		if slices.Contains(p.Away, name) {
			continue
		}
		reason, known := p.refuses(p.Nodes[name], pod)
		switch {
		case !known:
			unknown = reason
		case reason == "":
			return Fit{Fits: new(true)}, name
		default:
			why[reason]++
		}
	}
	if unknown != "" {
		return Fit{Reason: unknown}, ""
	}
	return Fit{Fits: new(false), Reason: inAll(why)}, ""
}

// inAll are the reasons of all nodes as one clause.
func inAll(why map[string]int) string {
	if len(why) == 0 {
		return "there is no other node"
	}
	words := make([]string, 0, len(why))
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		words = append(words, fmt.Sprintf("%d %s", why[reason], reason))
	}
	return strings.Join(words, ", ")
}

// beyondUs names a rule of the pod that is not evaluated here; empty where there is none.
func beyondUs(pod *corev1.Pod) string {
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == corev1.DoNotSchedule {
			return "it has a topology spread constraint over " + c.TopologyKey
		}
	}
	return ""
}

// refuses returns why a node does not accept the pod; empty when it does.
func (p Places) refuses(node *corev1.Node, pod *corev1.Pod) (reason string, known bool) {
	switch {
	case node.Spec.Unschedulable:
		return "cordoned", true
	case untolerated(node, pod) != "":
		return "with the taint " + untolerated(node, pod), true
	case !selects(node, pod):
		return "not matched by its node selector or affinity", true
	}
	if apart, known := p.apart(node, pod); apart || !known {
		return "with a pod that its anti-affinity excludes", known
	}
	if near, known := p.near(node, pod); !near || !known {
		return "outside of the fault domain that its pod affinity requires", known
	}
	return p.lacks(node, pod)
}

func untolerated(node *corev1.Node, pod *corev1.Pod) string {
	for _, taint := range node.Spec.Taints {
		hard := taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
		if hard && !slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return tolerates(t, taint) }) {
			return taint.Key
		}
	}
	return ""
}

// ClosedTo reports whether a node that a pod selects is cordoned, or has a taint that the pod does not tolerate.
func ClosedTo(node *corev1.Node, pod *corev1.Pod) bool {
	return selects(node, pod) && (node.Spec.Unschedulable || untolerated(node, pod) != "")
}

// EvictingTaint returns the taint of a node by which Kubernetes evicts pods that have no more than these
// tolerations, at once or after a time; nil for none.
func EvictingTaint(node *corev1.Node, tolerations []corev1.Toleration) *corev1.Taint {
	for i, taint := range node.Spec.Taints {
		stays := func(t corev1.Toleration) bool { return t.TolerationSeconds == nil && tolerates(t, taint) }
		if taint.Effect == corev1.TaintEffectNoExecute && !slices.ContainsFunc(tolerations, stays) {
			return &node.Spec.Taints[i]
		}
	}
	return nil
}

func tolerates(t corev1.Toleration, taint corev1.Taint) bool {
	sameKey := t.Key == taint.Key || (t.Key == "" && t.Operator == corev1.TolerationOpExists)
	sameEffect := t.Effect == "" || t.Effect == taint.Effect
	return sameKey && sameEffect && (t.Operator == corev1.TolerationOpExists || t.Value == taint.Value)
}

// lacks names the resource that the node lacks.
func (p Places) lacks(node *corev1.Node, pod *corev1.Pod) (reason string, known bool) {
	if len(node.Status.Allocatable) == 0 {
		return "the allocatable resources of a node are unknown", false
	}
	free := node.Status.Allocatable.DeepCopy()
	places := free[corev1.ResourcePods]
	for _, other := range p.on(node) {
		take(free, objects.PodRequests(other))
		places.Sub(*resource.NewQuantity(1, resource.DecimalSI))
	}
	for _, name := range slices.Sorted(maps.Keys(objects.PodRequests(pod))) {
		want := objects.PodRequests(pod)[name]
		if have := free[name]; have.Cmp(want) < 0 && !want.IsZero() {
			return "with too little " + string(name), true
		}
	}
	if _, reported := node.Status.Allocatable[corev1.ResourcePods]; reported && places.Sign() <= 0 {
		return "at their limit of pods", true
	}
	return "", true
}

func (p Places) on(node *corev1.Node) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(p.Pods), func(pod *corev1.Pod) bool { return pod.Spec.NodeName != node.Name })
}

func take(from, what corev1.ResourceList) {
	for name, n := range what {
		left := from[name]
		left.Sub(n)
		from[name] = left
	}
}

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
