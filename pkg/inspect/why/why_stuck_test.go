package why_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Waiting means that time resolves it. What time does not resolve is blocked, and the report has what
// keeps the object, since when, and what ends that.
func TestARemovedGroupThatTimeDoesNotEndIsBlocked(t *testing.T) {
	removed := func(in *why.Input) *v1beta2.ProcessGroupStatus {
		g := in.Cluster.ProcessGroup("storage-3")
		g.MarkForRemoval(noon.Add(-time.Hour))
		g.ExclusionSkipped = true
		g.SetExcluded(noon.Add(-50 * time.Minute))
		in.Plan.Holds = []planned.PlanHold{{Stage: plan.StageRemovePods, HoldRecord: inspect.HoldRecord{
			Code: plan.HoldRemovalsPending, Reason: "the objects of storage-3 are still terminating", Subjects: []string{"storage-3"},
		}}}
		return g
	}
	lost := func(in *why.Input, since time.Duration) {
		pod := in.Terminates("storage-3", 40*time.Minute)
		in.Nodes = map[string]*corev1.Node{pod.Spec.NodeName: {
			ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(noon.Add(-since))},
			}},
		}}
	}
	tests := map[string]struct {
		given  func(*why.Input)
		state  why.State
		holder string
		reason string
		next   []string
	}{
		"a node that was lost a moment ago may come back": {
			given: func(in *why.Input) { lost(in, time.Minute) }, state: why.Waiting, holder: "pod sample-storage-3 node-3 stuck=false",
			reason: "its pod does not terminate, is on node node-3, which is not ready: no reason is given",
			next:   []string{"kubectl describe node node-3", "kubectl fdb reconcile sample --wait"},
		},
		"a node that stays lost": {
			given: func(in *why.Input) { lost(in, 9*time.Minute) }, state: why.Blocked, holder: "pod sample-storage-3 node-3 stuck=true",
			reason: "its pod does not terminate, is on node node-3, which is not ready: no reason is given; if its machine is off for good: kubectl delete node node-3",
			next:   []string{"kubectl describe node node-3"},
		},
		"the finalizer of a PVC without its pod": {
			given: func(in *why.Input) {
				delete(in.Pods, "sample-storage-3")
				at := metav1.NewTime(noon.Add(-30 * time.Minute))
				in.Volumes = map[string]*corev1.PersistentVolumeClaim{"sample-storage-3-data": {ObjectMeta: metav1.ObjectMeta{
					Name: "sample-storage-3-data", DeletionTimestamp: &at, Finalizers: []string{"example.com/csi-hold"},
				}}}
			}, state: why.Blocked, holder: "PVC sample-storage-3-data example.com/csi-hold stuck=true",
			reason: "its PVC sample-storage-3-data does not terminate, waits for its finalizers example.com/csi-hold; the controller that set it has to remove it",
			next:   []string{"kubectl describe pvc sample-storage-3-data"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := why.HealthyInput(t)
			removed(&in)
			tc.given(&in)
			c := chainOf(t, why.NewReport(meta, in), "storage-3")
			if c.State != tc.state || !slices.Equal(c.Next, tc.next) {
				t.Errorf("state %s, next %q", c.State, c.Next)
			}
			last := c.Reasons[len(c.Reasons)-1]
			if last.Message != tc.reason {
				t.Errorf("got  %s\nwant %s", last.Message, tc.reason)
			}
			if h := last.Holder; h == nil || tc.holder != strings.Join(slices.Concat([]string{h.Kind, h.Name}, h.Finalizers, slices.DeleteFunc([]string{h.Node}, func(n string) bool { return n == "" })), " ")+map[bool]string{true: " stuck=true", false: " stuck=false"}[h.Stuck] {
				t.Errorf("holder %+v, want %s", h, tc.holder)
			}
		})
	}
}

func chainOf(t *testing.T, r why.Report, id string) why.Chain {
	t.Helper()
	for _, c := range r.Items {
		if slices.Contains(c.Subjects, id) {
			return c
		}
	}
	t.Fatalf("no chain of %s: %+v", id, r.Items)
	return why.Chain{}
}
