package reconcile_test

import (
	"io"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// While pods of storage servers are recreated zone by zone, the coordinators among them
// come back under their names: no other process becomes one. The death of a storage server
// causes no recovery, so the age of the last one holds nothing up here.
func TestARolloutMovesNoCoordinator(t *testing.T) {
	w := oldAndQuiet(t, 9, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts.Storage = 5
		c.Spec.CoordinatorSelection = []v1beta2.CoordinatorSelectionSetting{{ProcessClass: v1beta2.ProcessClassStorage, Priority: 1}}
	})
	w.Tick(20 * time.Minute)
	before := len(w.Acted)
	changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) {
		s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassStorage: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: v1beta2.ContainerMain, Env: []corev1.EnvVar{{Name: "TZ", Value: "UTC"}}}},
			}}},
		}
	})
	settle(t, w, 80, io.Discard)
	deleted := 0
	for _, a := range w.Acted[before:] {
		if _, deletes := a.(plan.DeletePods); deletes {
			deleted++
		}
		if change, changes := a.(plan.ChangeCoordinators); changes {
			t.Errorf("after %d pods: %s", deleted, change.Describe())
		}
	}
	if deleted != 5 {
		t.Errorf("%d pods were recreated, want 5", deleted)
	}
}
