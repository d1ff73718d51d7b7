package node

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Hosts is the sandbox's name service: the names pods and headless services
// would have in a cluster's DNS.
type Hosts struct {
	mu    sync.RWMutex
	table map[string][]netip.Addr
}

// Resolve returns the addresses of a name. It returns an error for an unknown name.
func (h *Hosts) Resolve(name string) ([]netip.Addr, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if found := h.table[strings.TrimSuffix(strings.ToLower(name), ".")]; len(found) > 0 {
		return slices.Clone(found), nil
	}
	return nil, fmt.Errorf("lookup %s: no such host", name)
}

// set replaces the table and reports whether it changed.
func (h *Hosts) set(table map[string][]netip.Addr) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	same := maps.EqualFunc(h.table, table, slices.Equal[[]netip.Addr])
	h.table = table
	return !same
}

// file is the table as /etc/hosts.
func (h *Hosts) file() []byte {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var b strings.Builder
	b.WriteString("127.0.0.1\tlocalhost\n::1\tlocalhost\n")
	for _, name := range slices.Sorted(maps.Keys(h.table)) {
		for _, address := range h.table[name] {
			fmt.Fprintf(&b, "%s\t%s\n", address, name)
		}
	}
	return []byte(b.String())
}

// clusterDomain ends every full name.
const clusterDomain = "cluster.local"

// names computes the table: for every headless service its pods' addresses,
// and for every pod of it with a hostname an own name. As in a cluster, a pod
// that is not ready has no name unless the service publishes it.
func names(pods []*corev1.Pod, services []*corev1.Service) map[string][]netip.Addr {
	table := map[string][]netip.Addr{}
	for _, s := range services {
		if s.Spec.ClusterIP != corev1.ClusterIPNone {
			addService(table, s)
			continue
		}
		for _, p := range pods {
			if selects(s, p) && (s.Spec.PublishNotReadyAddresses || ready(p)) {
				addPod(table, s, p)
			}
		}
	}
	for _, addresses := range table {
		slices.SortFunc(addresses, netip.Addr.Compare)
	}
	return table
}

func addService(table map[string][]netip.Addr, s *corev1.Service) {
	if address, err := netip.ParseAddr(s.Spec.ClusterIP); err == nil {
		add(table, s.Name+"."+s.Namespace, address)
	}
}

func addPod(table map[string][]netip.Addr, s *corev1.Service, p *corev1.Pod) {
	address, err := netip.ParseAddr(p.Status.PodIP)
	if err != nil {
		return // it has none yet
	}
	add(table, s.Name+"."+s.Namespace, address)
	if p.Spec.Hostname != "" && p.Spec.Subdomain == s.Name {
		add(table, p.Spec.Hostname+"."+s.Name+"."+s.Namespace, address)
	}
}

func add(table map[string][]netip.Addr, name string, address netip.Addr) {
	for _, full := range []string{name + ".svc." + clusterDomain, name + ".svc", name} {
		table[full] = append(table[full], address)
	}
}

func selects(s *corev1.Service, p *corev1.Pod) bool {
	return len(s.Spec.Selector) > 0 && s.Namespace == p.Namespace &&
		labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(p.Labels))
}

func ready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
