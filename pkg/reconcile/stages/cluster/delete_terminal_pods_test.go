package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// ended ends the first group's pod a time after its creation.
func ended(phase corev1.PodPhase, age time.Duration) func(*plan.Snapshot) {
	return stagestest.OnePod(func(p *corev1.Pod) {
		p.Status.Phase, p.CreationTimestamp = phase, metav1.NewTime(stagestest.Noon.Add(-age))
	})
}

func TestDeleteTerminalPods(t *testing.T) {
	stagestest.Decides(t, DeleteTerminalPods, map[string]stagestest.Decision{
		"does nothing while all pods run":       {Given: func(*plan.Snapshot) {}},
		"deletes a pod that failed":             {Given: ended(corev1.PodFailed, time.Hour), Does: []string{stagestest.DeleteOne}},
		"deletes a pod that succeeded":          {Given: ended(corev1.PodSucceeded, time.Hour), Does: []string{stagestest.DeleteOne}},
		"keeps one whose PVC is being deleted":  {Given: stagestest.Combined(ended(corev1.PodFailed, time.Hour), going(stagestest.OneGroup)), Holds: "the data on the volume would be lost with it: log-101: PVC sample-log-101-data is being deleted", Manual: true},
		"leaves a pending pod alone":            {Given: ended(corev1.PodPending, time.Hour)},
		"deletes it after half a minute":        {Given: ended(corev1.PodFailed, 30*time.Second), Does: []string{stagestest.DeleteOne}},
		"waits half a minute after it was made": {Given: ended(corev1.PodFailed, 29*time.Second), Holds: "sample-log-101 ended less than 30s"},
		"deletes one of a group that has yet to be drained": {
			Given: stagestest.Combined(ended(corev1.PodFailed, time.Hour), func(s *plan.Snapshot) { s.Cluster.ProcessGroup(stagestest.OneGroup).MarkForRemoval(stagestest.Noon) }),
			Does:  []string{stagestest.DeleteOne},
		},
	})
}

func TestAYoungTerminalPodIsCheckedAgainAfterTheRemainingDelay(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	ended(corev1.PodFailed, 22*time.Second)(&s)
	if d := DeleteTerminalPods.Decide(s); d.Hold == nil || d.Hold.RetryAfter != 8*time.Second {
		t.Errorf("holds with %+v, want a retry after 8s", d.Hold)
	}
}
