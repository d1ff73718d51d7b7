package objects

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhichPodsCountAsServing(t *testing.T) {
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"one that is ready":                          {func(*corev1.Pod) {}, true},
		"one whose readiness nothing reports":        {func(p *corev1.Pod) { p.Status.Conditions = nil }, true},
		"not one that is unready":                    {func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }, false},
		"not one of a node that stopped reporting":   {func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionUnknown }, false},
		"not one that is pending without conditions": {func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodPending} }, false},
		"not one that is being deleted":              {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
			tc.change(pod)
			if got := Serves(pod); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
