package lists

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func TestACoordinatorOnANodeThatIsNotReadyIsDown(t *testing.T) {
	f := healthy(t)
	g := f.Cluster.ProcessGroup("log-1")
	pod := f.Pod(g)
	pod.Spec.NodeName = "node-1"
	d := DiagnosedCoordinator{}
	traceCoordinator(f, &d, g, fdb.Address{Host: g.Addresses[0], Port: 4501, FromHostname: true})
	if want := "its pod runs; the state of its node is unknown"; d.State != CoordinatorUnreachable || d.Note != want {
		t.Errorf("%s %q, want %q", d.State, d.Note, want)
	}
	node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}}}}
	node.Name = "node-1"
	f.Nodes = map[string]*corev1.Node{"node-1": node}
	traceCoordinator(f, &d, g, fdb.Address{Host: g.Addresses[0], Port: 4501, FromHostname: true})
	if d.State != CoordinatorDown || !strings.Contains(d.Note, "node-1, which is not ready") {
		t.Errorf("%s %q, want a node that is not ready", d.State, d.Note)
	}
}
