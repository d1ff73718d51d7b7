package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// TestAProcessAtThePodsOwnAddressBelongsToItsGroup keeps a process that reports no ID yet with the group
// whose pod has the address, also while an entry of another group at it is still listed.
func TestAProcessAtThePodsOwnAddressBelongsToItsGroup(t *testing.T) {
	s := draining(t)
	g := s.Groups()[0]
	process(&s, func(p *fdb.Process) { p.Locality = nil })
	other := s.Database.Status.Cluster.Processes["b"]
	other.Address.Host = "10.0.0.1"
	s.Database.Status.Cluster.Processes["b"] = other
	if got := processesOf(s, g); len(got) != 0 {
		t.Errorf("%d processes at an address of another group", len(got))
	}
	s.Pods = map[string]*corev1.Pod{g.PodName(s.Cluster): {Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"}}}
	if got := processesOf(s, g); len(got) != 1 {
		t.Errorf("%d processes at the address of the group's own pod", len(got))
	}
}
