package safety

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Fit says whether a pod like one that runs would find another node.
type Fit struct {
	// Fits is nil when nobody can tell.
	Fits *bool
	// Reason is why not, or why nobody can tell; empty when it fits.
	Reason string
}

// Places are the nodes that a pod could go to, and what runs
// there.
type Places struct {
	// Nodes are all nodes; Pods are those of all namespaces that have not ended.
	Nodes map[string]*corev1.Node
	Pods  []*corev1.Pod
	// Away are the names of nodes that are about to take no pods.
	Away []string
	// Hidden is why nodes or pods are not known; empty when they are.
	Hidden string
}

// Elsewhere asks whether a new pod like this one would find a node. It asks what the
// scheduler asks first: that the node takes pods, its taints, the node selector and required
// node affinity, what is free of what the pod requests, and required anti-affinity. Of what
// it does not know, volumes that belong to a place and rules about spreading among them, it
// says so.
func (p Places) Elsewhere(pod *corev1.Pod) Fit {
	if p.Hidden != "" {
		return Fit{Reason: p.Hidden}
	}
	if beyond := beyondUs(pod); beyond != "" {
		return Fit{Reason: beyond}
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
			yes := true
			return Fit{Fits: &yes}
		default:
			why[reason]++
		}
	}
	if unknown != "" {
		return Fit{Reason: unknown}
	}
	no := false
	return Fit{Fits: &no, Reason: inAll(why)}
}

// inAll are the reasons of all nodes in words.
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

// beyondUs names a rule of the pod that is not looked at here; empty where there is none.
func beyondUs(pod *corev1.Pod) string {
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		return "it has to run beside other pods"
	}
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == corev1.DoNotSchedule {
			return "it is to be spread evenly over " + c.TopologyKey
		}
	}
	return ""
}

// refuses says why a node does not take the pod; empty when it does.
func (p Places) refuses(node *corev1.Node, pod *corev1.Pod) (reason string, known bool) {
	switch {
	case node.Spec.Unschedulable:
		return "cordoned", true
	case untolerated(node, pod) != "":
		return "with the taint " + untolerated(node, pod), true
	case !selects(node, pod):
		return "not selected by its spec", true
	}
	if apart, known := p.apart(node, pod); apart || !known {
		return "with a pod that it has to keep away from", known
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

func tolerates(t corev1.Toleration, taint corev1.Taint) bool {
	sameKey := t.Key == taint.Key || (t.Key == "" && t.Operator == corev1.TolerationOpExists)
	sameEffect := t.Effect == "" || t.Effect == taint.Effect
	return sameKey && sameEffect && (t.Operator == corev1.TolerationOpExists || t.Value == taint.Value)
}

// lacks names what the node has too little of.
func (p Places) lacks(node *corev1.Node, pod *corev1.Pod) (reason string, known bool) {
	if len(node.Status.Allocatable) == 0 {
		return "a node does not say what it has", false
	}
	free := node.Status.Allocatable.DeepCopy()
	places := free[corev1.ResourcePods]
	for _, other := range p.on(node) {
		take(free, requests(other))
		places.Sub(*resource.NewQuantity(1, resource.DecimalSI))
	}
	for _, name := range slices.Sorted(maps.Keys(requests(pod))) {
		want := requests(pod)[name]
		if have := free[name]; have.Cmp(want) < 0 && !want.IsZero() {
			return "with too little " + string(name), true
		}
	}
	if _, told := node.Status.Allocatable[corev1.ResourcePods]; told && places.Sign() <= 0 {
		return "with no place for another pod", true
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

// requests is what a pod asks for: its containers and those beside them together, or any one
// of those that run before, whichever is more.
func requests(pod *corev1.Pod) corev1.ResourceList {
	sum := pod.Spec.Overhead.DeepCopy()
	if sum == nil {
		sum = corev1.ResourceList{}
	}
	add := func(what corev1.ResourceList) {
		for name, n := range what {
			total := sum[name]
			total.Add(n)
			sum[name] = total
		}
	}
	for _, c := range pod.Spec.Containers {
		add(c.Resources.Requests)
	}
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c.Resources.Requests)
		}
	}
	for _, c := range pod.Spec.InitContainers {
		for name, n := range c.Resources.Requests {
			if total := sum[name]; total.Cmp(n) < 0 {
				sum[name] = n
			}
		}
	}
	return sum
}
