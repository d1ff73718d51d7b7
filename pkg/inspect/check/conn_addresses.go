package check

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// recordDelay is how long a name of a new pod may resolve to the address of its former one: the DNS
// server of Kubernetes caches records for 30 s, and EndpointSlices follow pods.
const recordDelay = time.Minute

// coordinatorAddresses compares what the names of coordinators resolve to with the addresses of their
// pods. Names of other Kubernetes clusters have no pod here; CONN-003 reports names that do not resolve.
func coordinatorAddresses(f Facts) ([]Finding, string) {
	names, unknown := f.CoordinatorNames()
	if unknown != "" {
		return nil, unknown
	}
	var found []Finding
	var unread reasons
	for _, name := range names {
		pod := f.podNamed(name)
		n, measured := f.Names.Of(name)
		switch {
		case pod == nil:
		case f.NamesUnread != "":
			unread.add(host(name), f.NamesUnread)
		case !measured:
			unread.add(host(name), "was not looked up")
		case n.Failed == n.Lookups:
		case len(n.Addresses) == 0:
			unread.add(host(name), "no lookup returned an address")
		default:
			wrong, untested := f.wrongAddresses(pod, n)
			found = append(found, wrong...)
			unread.add(host(name), untested)
		}
	}
	return found, unread.String()
}

// wrongAddresses returns a finding about a name that resolves to an address that its pod does not have.
// That of a pod that is being replaced or has just started proves nothing.
func (f Facts) wrongAddresses(pod *corev1.Pod, n fdb.NameLookup) ([]Finding, string) {
	own := addressesOf(pod)
	at := slices.IndexFunc(n.Addresses, func(a netip.Addr) bool { return !slices.Contains(own, a) })
	switch {
	case at < 0:
		return nil, ""
	case len(own) == 0 || pod.DeletionTimestamp != nil:
		return nil, "pod " + pod.Name + " has no address at the moment"
	case f.Now.Sub(pod.CreationTimestamp.Time) < recordDelay:
		return nil, fmt.Sprintf("pod %s was created less than %s ago, so its DNS record can still be that of its former pod", pod.Name, brief(recordDelay))
	}
	whose := ""
	for _, name := range slices.Sorted(maps.Keys(f.Pods)) {
		if slices.Contains(addressesOf(f.Pods[name]), n.Addresses[at]) {
			whose = ", the address of pod " + name
		}
	}
	message := fmt.Sprintf("it resolves to %s%s; its pod %s has %s", n.Addresses[at], whose, pod.Name, own[0])
	return one(host(n.Name), message, f.fix("exec", "--", "getent", "ahosts", n.Name)...), ""
}

// groupNamed returns the process group with this DNS name; nil for a name of another cluster.
func (f Facts) groupNamed(name string) *v1beta2.ProcessGroupStatus {
	at := slices.IndexFunc(f.Groups(), func(g *v1beta2.ProcessGroupStatus) bool { return g.DNSName(f.Cluster) == name })
	if at < 0 {
		return nil
	}
	return f.Groups()[at]
}

// podNamed returns the pod of the process group with this DNS name, nil if there is none.
func (f Facts) podNamed(name string) *corev1.Pod {
	if g := f.groupNamed(name); g != nil {
		return f.Pod(g)
	}
	return nil
}

// addressesOf returns all IPs of a pod, and the one of its service.
func addressesOf(pod *corev1.Pod) []netip.Addr {
	texts := []string{pod.Status.PodIP}
	for _, ip := range pod.Status.PodIPs {
		texts = append(texts, ip.IP)
	}
	if public, err := objects.PublicIPs(pod); err == nil {
		texts = append(texts, public...)
	}
	var all []netip.Addr
	for _, text := range texts {
		if address, err := netip.ParseAddr(text); err == nil {
			all = append(all, address.Unmap())
		}
	}
	return all
}
