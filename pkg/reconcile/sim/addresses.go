package sim

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

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
