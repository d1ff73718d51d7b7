package stages

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ended ends the first group's pod a time after its creation.
func ended(phase corev1.PodPhase, age time.Duration) func(*plan.Snapshot) {
	return onePod(func(p *corev1.Pod) {
		p.Status.Phase, p.CreationTimestamp = phase, metav1.NewTime(noon.Add(-age))
	})
}

func TestDeleteTerminalPods(t *testing.T) {
	decides(t, deleteTerminalPods, map[string]decision{
		"does nothing while all pods run":       {given: func(*plan.Snapshot) {}},
		"deletes a pod that failed":             {given: ended(corev1.PodFailed, time.Hour), does: []string{deleteOne}},
		"deletes a pod that succeeded":          {given: ended(corev1.PodSucceeded, time.Hour), does: []string{deleteOne}},
		"leaves a pending pod alone":            {given: ended(corev1.PodPending, time.Hour)},
		"deletes it after half a minute":        {given: ended(corev1.PodFailed, 30*time.Second), does: []string{deleteOne}},
		"waits half a minute after it was made": {given: ended(corev1.PodFailed, 29*time.Second), holds: "sample-log-101 ended less than 30s"},
		"deletes one of a group that has yet to be drained": {
			given: combined(ended(corev1.PodFailed, time.Hour), func(s *plan.Snapshot) { s.Cluster.ProcessGroup(oneGroup).MarkForRemoval(noon) }),
			does:  []string{deleteOne},
		},
	})
}

func TestAYoungTerminalPodIsCheckedAgainInTime(t *testing.T) {
	s := healthyCluster(t)
	ended(corev1.PodFailed, 22*time.Second)(&s)
	if d := deleteTerminalPods.Decide(s); d.Hold == nil || d.Hold.RetryAfter != 8*time.Second {
		t.Errorf("holds with %+v, want a retry after 8s", d.Hold)
	}
}
