package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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

// A process at the address of a pod that reports another group is the pod's own with wrong localities, only as long
// as it is certain that the pod has the address alone.
func TestAProcessIsMisnamedOnlyAtTheAddressOfARunningPod(t *testing.T) {
	type given struct {
		s   *plan.Snapshot
		pod *corev1.Pod
	}
	reports := func(key, value string) func(given) {
		return func(g given) { process(g.s, func(p *fdb.Process) { p.Locality[key] = value }) }
	}
	tests := map[string]struct {
		given []func(given)
		want  int
	}{
		"it reports its group, and no number":         {},
		"it reports its group, and its number":        {given: []func(given){reports(fdb.LocalityProcessID, "storage-1-1")}},
		"it reports another number":                   {given: []func(given){reports(fdb.LocalityProcessID, "storage-1-2")}, want: 1},
		"it reports another group":                    {given: []func(given){reports(fdb.LocalityInstanceID, "x")}, want: 1},
		"its pod is being deleted":                    {given: []func(given){reports(fdb.LocalityInstanceID, "x"), func(g given) { g.pod.DeletionTimestamp = &metav1.Time{Time: evening} }}},
		"its pod does not run":                        {given: []func(given){reports(fdb.LocalityInstanceID, "x"), func(g given) { g.pod.Status.Phase = corev1.PodPending }}},
		"its pod shares the address of the node":      {given: []func(given){reports(fdb.LocalityInstanceID, "x"), func(g given) { g.pod.Spec.HostNetwork = true }}},
		"another pod that is removed has the address": {given: []func(given){reports(fdb.LocalityInstanceID, "x"), func(g given) { g.s.Pods["other"] = &corev1.Pod{Status: g.pod.Status} }}},
		"the database does not answer":                {given: []func(given){func(g given) { g.s.Database.Status = nil }}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := draining(t)
			g := s.Groups()[0]
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: g.PodName(s.Cluster)}, Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}}}}
			s.Pods = map[string]*corev1.Pod{pod.Name: pod}
			for _, edit := range tc.given {
				edit(given{&s, pod})
			}
			if got := Misnamed(s, g); len(got) != tc.want {
				t.Errorf("%d misnamed processes, want %d", len(got), tc.want)
			}
		})
	}
}
