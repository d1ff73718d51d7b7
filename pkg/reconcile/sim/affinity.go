package sim

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
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

// nearby is a rule of a pod about other pods.
type nearby struct {
	key string
	// beside is how many of those pods run in each fault domain.
	beside map[string]int
	// first is true where the pod may be the first that its own rule selects.
	first bool
}

func (w *Cluster) nearby(t corev1.PodAffinityTerm) nearby {
	return nearby{key: t.TopologyKey, beside: w.spread(t)}
}

// tolerated returns whether a pod may run on a node by the required rules of this pod and of all
// others, which are evaluated once for all nodes.
func (w *Cluster) tolerated(pod *corev1.Pod) func(node string) bool {
	near, far := affinities(pod)
	var with, apart []nearby
	for _, t := range near.RequiredDuringSchedulingIgnoredDuringExecution {
		rule := w.nearby(t)
		rule.first = !w.anywhere(t) && selects(t, pod)
		with = append(with, rule)
	}
	for _, t := range far.RequiredDuringSchedulingIgnoredDuringExecution {
		apart = append(apart, w.nearby(t))
	}
	kept := w.keptFrom(pod)
	return func(node string) bool {
		for _, rule := range with {
			if domain := w.domain(node, rule.key); domain == "" || (!rule.first && rule.beside[domain] == 0) {
				return false
			}
		}
		for _, rule := range apart {
			if rule.beside[w.domain(node, rule.key)] > 0 {
				return false
			}
		}
		for key, domains := range kept {
			if domains[w.domain(node, key)] {
				return false
			}
		}
		return true
	}
}

// keptFrom are the fault domains, by topology key, that required rules of other pods keep a pod from.
func (w *Cluster) keptFrom(pod *corev1.Pod) map[string]map[string]bool {
	kept := map[string]map[string]bool{}
	for _, other := range w.Pods {
		if a := other.Spec.Affinity; other.Spec.NodeName == "" || a == nil || a.PodAntiAffinity == nil {
			continue
		}
		for _, t := range other.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			domain := w.domain(other.Spec.NodeName, t.TopologyKey)
			if domain == "" || kept[t.TopologyKey][domain] || !selects(t, pod) {
				continue
			}
			if kept[t.TopologyKey] == nil {
				kept[t.TopologyKey] = map[string]bool{}
			}
			kept[t.TopologyKey][domain] = true
		}
	}
	return kept
}

// preference is a preferred rule of a pod about other pods.
type preference struct {
	nearby
	weight int
}

// preferences are those of a pod.
func (w *Cluster) preferences(pod *corev1.Pod) (all []preference) {
	near, far := affinities(pod)
	for _, t := range near.PreferredDuringSchedulingIgnoredDuringExecution {
		all = append(all, preference{nearby: w.nearby(t.PodAffinityTerm), weight: int(t.Weight)})
	}
	for _, t := range far.PreferredDuringSchedulingIgnoredDuringExecution {
		all = append(all, preference{nearby: w.nearby(t.PodAffinityTerm), weight: -int(t.Weight)})
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

// perNet is how many addresses each network has.
const perNet = 250

// giveAddresses gives a pod its addresses: one of IPv4, and one of IPv6 where the pod needs a family or
// the observed pods have such addresses first.
func (w *Cluster) giveAddresses(pod *corev1.Pod) {
	if w.Address != nil {
		if ip := w.Address(pod.Name); ip != "" {
			pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
			return
		}
	}
	net := 2*w.number + 1 // two networks for each of the joined clusters
	n := 0
	for name := range w.Pods {
		if name < pod.Name {
			n++
		}
	}
	w.address(pod, net, n)
	for w.ipTaken(pod) {
		w.nextIP++
		w.address(pod, net+1, w.nextIP)
	}
}

func (w *Cluster) address(pod *corev1.Pod, net, n int) {
	four := fmt.Sprintf("10.%d.%d.%d", net, n/perNet, n%perNet+1)
	six := fmt.Sprintf("fd00::%d:%d:%d", net, n/perNet, n%perNet+1)
	family, err := objects.IPFamilyOf(pod)
	switch {
	case w.sixFirst:
		pod.Status.PodIPs = []corev1.PodIP{{IP: six}, {IP: four}}
	case err == nil && family != 0:
		pod.Status.PodIPs = []corev1.PodIP{{IP: four}, {IP: six}}
	default:
		pod.Status.PodIPs = []corev1.PodIP{{IP: four}}
	}
	pod.Status.PodIP = pod.Status.PodIPs[0].IP
}

func (w *Cluster) ipTaken(pod *corev1.Pod) bool {
	for _, other := range w.Pods {
		if other != pod && other.Status.PodIP == pod.Status.PodIP {
			return true
		}
	}
	return false
}

// applyService stores a service. One that needs an address of the cluster keeps the one it has, or gets one.
func (w *Cluster) applyService(name string, service *corev1.Service) {
	service = service.DeepCopy()
	if old := w.Services[name]; old != nil && service.Spec.ClusterIP == "" {
		service.Spec.ClusterIP = old.Spec.ClusterIP
	}
	for n := 0; service.Spec.ClusterIP == ""; n++ {
		if ip := w.serviceIP(service, n); !w.serviceIPTaken(ip) {
			service.Spec.ClusterIP = ip
		}
	}
	w.Services[name] = service
}

func (w *Cluster) serviceIP(service *corev1.Service, n int) string {
	const net = 200 // no pods are in it
	if len(service.Spec.IPFamilies) > 0 && service.Spec.IPFamilies[0] == corev1.IPv6Protocol || len(service.Spec.IPFamilies) == 0 && w.sixFirst {
		return fmt.Sprintf("fd00::%d:%d:%d", net+w.number, n/perNet, n%perNet+1)
	}
	return fmt.Sprintf("10.%d.%d.%d", net+w.number, n/perNet, n%perNet+1)
}

func (w *Cluster) serviceIPTaken(ip string) bool {
	for _, other := range w.Services {
		if other.Spec.ClusterIP == ip {
			return true
		}
	}
	return false
}

// startsWithIPv6 reports whether the first address of a pod is one of IPv6.
func startsWithIPv6(pod *corev1.Pod) bool {
	ip, err := netip.ParseAddr(pod.Status.PodIP)
	return err == nil && ip.Is6()
}
