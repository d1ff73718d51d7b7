package ui

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// A group whose objects are deleted has only its exclusion and its status entry left.
func TestWhyReportsWhichObjectsOfARemovedGroupAreLeft(t *testing.T) {
	for name, gone := range map[string]bool{"objects are there": false, "objects are deleted": true} {
		t.Run(name, func(t *testing.T) {
			in := asked(t)
			g := in.Cluster.ProcessGroup("storage-1")
			g.MarkForRemoval(noon)
			g.SetExcluded(noon)
			inspecttest.Exclude(in.Snapshot, fdb.ExcludedServer{Locality: g.ExclusionString()})
			inspecttest.Drain(in.Snapshot, "storage-1")
			in.Coordination.ExclusionsRead = true
			if gone {
				delete(in.Pods, g.PodName(in.Cluster))
				delete(in.Volumes, g.PVCName(in.Cluster))
			}
			w := &why{WhyInput: in, name: "sample", reported: map[plan.StageName]bool{}}
			what := w.removing(g).Reasons[0].Message
			if deleted := strings.HasPrefix(what, "its pod, PVC and service are deleted"); deleted != gone {
				t.Errorf("%q, want objects that are deleted: %t", what, gone)
			}
		})
	}
}

func TestACoordinatorOnASickNodeIsDown(t *testing.T) {
	f := healthy(t)
	g := f.Cluster.ProcessGroup("log-1")
	pod := f.Pod(g)
	pod.Spec.NodeName = "node-1"
	d := DiagnosedCoordinator{}
	f.traceCoordinator(&d, g, fdb.Address{Host: g.Addresses[0], Port: 4501}, true)
	if want := "its pod runs; the state of its node is unknown"; d.State != CoordinatorUnreachable || d.Note != want {
		t.Errorf("%s %q, want %q", d.State, d.Note, want)
	}
	node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}}}}
	node.Name = "node-1"
	f.Nodes = map[string]*corev1.Node{"node-1": node}
	f.traceCoordinator(&d, g, fdb.Address{Host: g.Addresses[0], Port: 4501}, true)
	if d.State != CoordinatorDown || !strings.Contains(d.Note, "node-1, which is not ready") {
		t.Errorf("%s %q, want a node that is not ready", d.State, d.Note)
	}
}

// Too few coordinators for the tolerance of the spec are named as the cause.
func TestStatusNamesTooFewCoordinators(t *testing.T) {
	f := healthy(t)
	c := &f.Database.Status.Client.Coordinators
	c.Coordinators = c.Coordinators[:1]
	f.Database.Status.Cluster.FaultTolerance.WithoutLosingData = new(0)
	v := NewStatusView(meta, f)
	if !slices.Contains(v.Reasons, "1 of 3 desired coordinators") {
		t.Errorf("reasons %q", v.Reasons)
	}
}
