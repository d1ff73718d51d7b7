package stages

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestAPodIsDeletedOnlyToBeRecreated(t *testing.T) {
	deleting := map[string]struct {
		stage plan.Stage
		given func(*plan.Snapshot)
	}{
		"it should crash":        {deletePodsForBuggification, crashing(v1beta2.ContainerMain, oneGroup)},
		"it has ended":           {deleteTerminalPods, ended(corev1.PodFailed, time.Hour)},
		"its server is shut out": {removeIncompatibleProcesses, shutOutFor(time.Hour)},
	}
	tests := map[string]struct {
		given   func(*plan.Snapshot)
		deleted bool
	}{
		"is deleted":                                   {given: func(*plan.Snapshot) {}, deleted: true},
		"is left alone when it terminates":             {given: onePod(func(p *corev1.Pod) { p.DeletionTimestamp = new(noonTime()) })},
		"is left alone when a user isolated it":        {given: isolated},
		"is left alone when it is another group's":     {given: onePod(func(p *corev1.Pod) { p.Labels[v1beta2.LabelProcessGroupID] = "dc2-log-101" })},
		"is left alone when it would not be recreated": {given: onItsWayOut},
		"is not missed when there is none":             {given: func(s *plan.Snapshot) { delete(s.Pods, "sample-log-101") }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for why, d := range deleting {
				s := healthyCluster(t)
				combined(d.given, tc.given)(&s)
				if got := len(d.stage.Decide(s).Actions) == 1; got != tc.deleted {
					t.Errorf("when %s: deleted %t, want %t", why, got, tc.deleted)
				}
			}
		})
	}
}
