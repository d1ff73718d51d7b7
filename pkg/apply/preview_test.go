package apply

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// A facet that is not taken over is zero for a preview, which then plans to create what exists.
func TestAPreviewTakesOverEveryFacet(t *testing.T) {
	seen := plan.Snapshot{
		Cluster: &v1beta2.FoundationDBCluster{}, Nodes: map[string]*corev1.Node{"n": {}}, Pods: map[string]*corev1.Pod{"p": {}},
		Volumes: map[string]*corev1.PersistentVolumeClaim{"v": {}}, Services: map[string]*corev1.Service{"s": {}}, ConfigMap: &corev1.ConfigMap{},
		PodFiles: map[string]plan.PodReport{"p": {}}, Database: plan.DatabaseFacts{NotAsked: "no pod"}, Coordination: plan.CoordinationFacts{Read: true},
		Detector: plan.DetectorFacts{Job: &batchv1.CronJob{}},
	}
	for i := range 32 {
		facet := plan.Facet(1) << i
		if plan.Everything&facet == 0 {
			continue
		}
		var into plan.Snapshot
		if err := (AlreadySeen{Seen: seen}).Observe(t.Context(), &into, facet); err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(into, plan.Snapshot{}) || !cmp.Equal(into, seen.Without(plan.Everything&^facet)) {
			t.Errorf("%s is not taken over", facet)
		}
	}
}
