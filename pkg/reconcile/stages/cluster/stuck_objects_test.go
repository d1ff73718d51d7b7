package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// ending is a drained cluster in which the objects of storage-114 have been terminating for a time.
func ending(t *testing.T, overdue time.Duration) plan.Snapshot {
	t.Helper()
	s := stagestest.DrainedStorage(t)
	at := metav1.NewTime(stagestest.Noon.Add(-overdue))
	s.Pods["sample-storage-114"].DeletionTimestamp = &at
	s.Volumes["sample-storage-114-data"].DeletionTimestamp = &at
	s.Volumes["sample-storage-114-data"].Finalizers = []string{"kubernetes.io/pvc-protection"}
	stagestest.FirstOf(s, v1beta2.ProcessClassStorage).SetExcluded(stagestest.Noon)
	return s
}

// lose makes the node of a pod not ready for a time.
func lose(s *plan.Snapshot, pod string, since time.Duration) {
	name := s.Pods[pod].Spec.NodeName
	if s.Nodes == nil {
		s.Nodes = map[string]*corev1.Node{}
	}
	s.Nodes[name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(stagestest.Noon.Add(-since))},
	}}}
}

func TestARemovalThatTimeDoesNotEndRequiresManualIntervention(t *testing.T) {
	const waits = "the objects of storage-114 are still terminating"
	tests := map[string]struct {
		overdue time.Duration
		given   func(*plan.Snapshot)
		holds   string
		manual  bool
	}{
		"a pod that ends a little late ends with time": {overdue: time.Minute, given: func(*plan.Snapshot) {}, holds: waits},
		"a node that was lost a moment ago may come back": {
			overdue: time.Minute, given: func(s *plan.Snapshot) { lose(s, "sample-storage-114", 4*time.Minute) }, holds: waits,
		},
		"a node that stays lost keeps its pods": {
			overdue: time.Second, given: func(s *plan.Snapshot) { lose(s, "sample-storage-114", 9*time.Minute) }, manual: true,
			holds: "pod sample-storage-114 cannot terminate: node node-14 has not been ready for 9m; if its machine is off for good: kubectl delete node node-14",
		},
		"a pod within its grace period ends with time, also on a lost node": {
			overdue: -time.Second, given: func(s *plan.Snapshot) { lose(s, "sample-storage-114", time.Hour) }, holds: waits,
		},
		"a finalizer that is not removed keeps a pod": {
			overdue: 6 * time.Minute, given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-114"].Finalizers = []string{"example.com/hold"}
			}, manual: true,
			holds: "pod sample-storage-114 does not terminate for 6m: it has the finalizer example.com/hold; the controller that set it has to remove it",
		},
		"a finalizer that is not removed keeps a PVC": {
			overdue: 6 * time.Minute, given: func(s *plan.Snapshot) {
				delete(s.Pods, "sample-storage-114")
				s.Volumes["sample-storage-114-data"].Finalizers = []string{"example.com/csi-hold"}
			}, manual: true,
			holds: "PVC sample-storage-114-data does not terminate for 6m: it has the finalizer example.com/csi-hold; the controller that set it has to remove it",
		},
		"a kubelet that does not end a pod": {
			overdue: 6 * time.Minute, given: func(*plan.Snapshot) {}, manual: true,
			holds: "pod sample-storage-114 does not terminate for 6m on node node-14; its kubelet has to end it: kubectl describe pod sample-storage-114",
		},
		"nodes that may not be read": {
			overdue: 6 * time.Minute, given: func(s *plan.Snapshot) { s.NodesHidden = "listing nodes is forbidden" }, manual: true,
			holds: "pod sample-storage-114 does not terminate for 6m; cannot determine whether its node node-14 is ready: listing nodes is forbidden; its kubelet has to end it: kubectl describe pod sample-storage-114",
		},
		"an isolated pod stays until a user ends that": {
			given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-114"].DeletionTimestamp = nil
				s.Pods["sample-storage-114"].Annotations[v1beta2.AnnotationIsolateProcessGroup] = "true"
			}, manual: true, holds: "pod sample-storage-114 is isolated by its annotation and kept",
		},
		"a group that the spec keeps stays until a user ends that": {
			given:  func(s *plan.Snapshot) { s.Cluster.Spec.Buggify.BlockRemoval = []v1beta2.ProcessGroupID{"storage-114"} },
			manual: true, holds: "storage-114 is kept by spec.buggify.blockRemoval",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := ending(t, tc.overdue)
			tc.given(&s)
			d := RemovePods.Decide(s)
			if d.Hold == nil {
				t.Fatal("does not hold")
			}
			if diff := cmp.Diff(tc.holds, d.Hold.Reason); diff != "" {
				t.Errorf("reason (-want +got):\n%s", diff)
			}
			if d.Hold.Manual != tc.manual || d.Hold.Aside != tc.manual || (d.Hold.Code == plan.HoldObjectsStuck) != tc.manual {
				t.Errorf("%+v", d.Hold)
			}
		})
	}
}

// One cause is one sentence, whatever the number of pods.
func TestALostNodeIsReportedOnceForAllItsPods(t *testing.T) {
	s := ending(t, time.Minute)
	lose(&s, "sample-storage-114", time.Hour)
	for _, id := range []v1beta2.ProcessGroupID{"stateless-105", "stateless-106"} {
		g := s.Cluster.ProcessGroup(id)
		g.MarkForRemoval(stagestest.Noon)
		g.ExclusionSkipped = true
		g.SetExcluded(stagestest.Noon)
		at := metav1.NewTime(stagestest.Noon.Add(-time.Minute))
		s.Pod(g).DeletionTimestamp, s.Pod(g).Spec.NodeName = &at, "node-14"
	}
	d := RemovePods.Decide(s)
	want := &plan.Hold{
		Code: plan.HoldObjectsStuck, Subjects: []string{"stateless-105", "stateless-106", "storage-114"}, Manual: true, Aside: true,
		Reason: "pod sample-stateless-105 cannot terminate: node node-14 has not been ready for 60m (and 2 more pods on it); if its machine is off for good: kubectl delete node node-14",
	}
	if diff := cmp.Diff(want, d.Hold); diff != "" {
		t.Error(diff)
	}
}

// The exclusion of a stuck group stays: its node may come back with its processes.
func TestAStuckGroupKeepsItsExclusionWhileOthersAreForgotten(t *testing.T) {
	s := ending(t, time.Minute)
	lose(&s, "sample-storage-114", time.Hour)
	gone := s.Cluster.ProcessGroup("stateless-105")
	gone.MarkForRemoval(stagestest.Noon)
	gone.ExclusionSkipped = true
	gone.SetExcluded(stagestest.Noon)
	stagestest.DropProcess(&s, gone)
	stagestest.LoseObjects(&s, gone)
	d := RemovePods.Decide(s)
	if diff := cmp.Diff([]string{"remove stateless-105 from the status"}, stagestest.Described(d)); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	if d.Hold == nil || d.Hold.Manual {
		t.Errorf("the pass acts, and the next one reads the result: %+v", d.Hold)
	}
}
