package nodes_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// Reading nodes requires another permission and a long list, so only those are read that may
// explain something.
func TestOnlyNodesOfPodsWithProblemsAreRead(t *testing.T) {
	tests := map[string]struct {
		given func(*v1beta2.ProcessGroupStatus, *corev1.Pod)
		want  bool
	}{
		"all is well": {given: func(*v1beta2.ProcessGroupStatus, *corev1.Pod) {}},
		"the pod reports that it is ready": {given: func(_ *v1beta2.ProcessGroupStatus, p *corev1.Pod) {
			p.Status.Conditions = podReady(corev1.ConditionTrue)
		}},
		"the pod's node does not report": {given: func(_ *v1beta2.ProcessGroupStatus, p *corev1.Pod) {
			p.Status.Conditions = podReady(corev1.ConditionFalse)
		}, want: true},
		"the pod is being deleted": {given: func(_ *v1beta2.ProcessGroupStatus, p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, want: true},
		"the record has something of it": {given: func(g *v1beta2.ProcessGroupStatus, _ *corev1.Pod) {
			g.SetCondition(v1beta2.ConditionPodFailing, g.RemovalTimestamp.Time)
		}, want: true},
	}
	for name, tc := range tests {
		g := &v1beta2.ProcessGroupStatus{ProcessGroupID: "log-1", ProcessClass: v1beta2.ProcessClassLog, RemovalTimestamp: &metav1.Time{}}
		c := &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: "sample"}}
		c.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{g}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: g.PodName(c)}, Spec: corev1.PodSpec{NodeName: "node-1"}}
		tc.given(g, pod)
		f := inspect.Facts{Snapshot: plan.Snapshot{Cluster: c, Pods: map[string]*corev1.Pod{pod.Name: pod}}}
		if got := slices.Contains(session.NodesWithProblems(f), "node-1"); got != tc.want {
			t.Errorf("%s: looked at %t, want %t", name, got, tc.want)
		}
	}
}

func podReady(s corev1.ConditionStatus) []corev1.PodCondition {
	return []corev1.PodCondition{{Type: corev1.PodReady, Status: s}}
}
