package inspect

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// An agent counts as ready only where nothing reports that it is not: one whose node was removed is
// still recorded with containers that are.
func TestWhichAgentsAreReady(t *testing.T) {
	tests := map[string]struct {
		given func(*corev1.Pod)
		want  bool
	}{
		"one that runs":                  {func(*corev1.Pod) {}, true},
		"one that reports that it is":    {func(p *corev1.Pod) { p.Status.Conditions = ready(corev1.ConditionTrue) }, true},
		"one whose node was removed":     {func(p *corev1.Pod) { p.Status.Conditions = ready(corev1.ConditionFalse) }, false},
		"one whose readiness is unknown": {func(p *corev1.Pod) { p.Status.Conditions = ready(corev1.ConditionUnknown) }, false},
		"one whose container is not":     {func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Ready = false }, false},
		"one that does not run":          {func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }, false},
		"one that goes away":             {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, false},
	}
	for name, tc := range tests {
		pod := &corev1.Pod{Status: corev1.PodStatus{
			Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, Ready: true}},
		}}
		tc.given(pod)
		if got := agentReady(pod); got != tc.want {
			t.Errorf("%s: ready %t, want %t", name, got, tc.want)
		}
	}
}

func ready(s corev1.ConditionStatus) []corev1.PodCondition {
	return []corev1.PodCondition{{Type: corev1.PodReady, Status: s}}
}
