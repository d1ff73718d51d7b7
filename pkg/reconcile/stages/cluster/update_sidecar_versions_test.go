package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestUpdateSidecarVersions(t *testing.T) {
	// All but the first pod have the new sidecar already.
	oneOld := func(s *plan.Snapshot) {
		s.Cluster.Spec.Version = "7.4.6"
		for _, g := range s.Groups()[1:] {
			setSidecar(s.Pod(g), "foundationdb/fdb-kubernetes-monitor:7.4.6")
		}
	}
	const upgradeOne = "set the image of container foundationdb-kubernetes-sidecar of pod sample-log-101 to foundationdb/fdb-kubernetes-monitor:7.4.6"
	stagestest.Decides(t, UpdateSidecarVersions, map[string]stagestest.Decision{
		"does nothing without an upgrade":            {Given: func(*plan.Snapshot) {}},
		"does nothing during a patch upgrade":        {Given: func(s *plan.Snapshot) { s.Cluster.Spec.Version = "7.3.90" }},
		"gives a pod the sidecar of the new version": {Given: oneOld, Does: []string{upgradeOne}},
		"does nothing once all pods have it": {
			Given: stagestest.Combined(oneOld, stagestest.OnePod(func(p *corev1.Pod) { setSidecar(p, "foundationdb/fdb-kubernetes-monitor:7.4.6") })),
		},
		"leaves a pod alone that terminates": {
			Given: stagestest.Combined(oneOld, stagestest.OnePod(func(p *corev1.Pod) { p.DeletionTimestamp = new(stagestest.NoonTime()) })),
		},
		"leaves a pod alone whose group is being removed": {Given: stagestest.Combined(oneOld, stagestest.OnItsWayOut)},
		"upgrades an isolated pod too": {
			Given: stagestest.Combined(oneOld, stagestest.Isolated), Does: []string{upgradeOne},
		},
		"reverts a sidecar after a reverted upgrade": {
			Given: stagestest.OnePod(func(p *corev1.Pod) { setSidecar(p, "foundationdb/fdb-kubernetes-monitor:7.4.6") }),
			Does:  []string{"set the image of container foundationdb-kubernetes-sidecar of pod sample-log-101 to foundationdb/fdb-kubernetes-monitor:7.3.79"},
		},
		"leaves a sidecar to the rollout when the pod differs in more": {
			Given: stagestest.OnePod(func(p *corev1.Pod) {
				setSidecar(p, "foundationdb/fdb-kubernetes-monitor:7.4.6")
				p.Annotations[v1beta2.AnnotationLastAppliedSpec] = "of another spec"
			}),
		},
		"reports that a pod of another image type cannot be upgraded": {
			Given: stagestest.Combined(oneOld, stagestest.OnePod(func(p *corev1.Pod) { p.Annotations[v1beta2.AnnotationImageType] = string(v1beta2.ImageTypeSplit) })),
			Holds: "sample-log-101 are not of image type unified", Manual: true,
		},
	})
}

func setSidecar(pod *corev1.Pod, image string) {
	for i := range pod.Spec.Containers {
		if strings.HasSuffix(pod.Spec.Containers[i].Name, v1beta2.ContainerSidecar) {
			pod.Spec.Containers[i].Image = image
		}
	}
}
