package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestAdoptSpecs(t *testing.T) {
	const (
		pod   = "adopt pod/sample-storage-114 unchanged: it matches the spec"
		claim = "adopt persistentvolumeclaim/sample-storage-114-data unchanged: it matches the spec"
	)
	tests := map[string]stagestest.RemovalCase{
		"leaves alone what has our hashes": {From: stagestest.HealthyCluster},
		"takes a pod and its claim over":   {From: stagestest.ForeignCluster, Does: []string{pod, claim}},
		"leaves a group alone that leaves": {From: stagestest.ForeignCluster, Given: func(s *plan.Snapshot) {
			stagestest.FirstOf(*s, v1beta2.ProcessClassStorage).MarkForRemoval(stagestest.Noon)
		}},
		"leaves a pod alone that is terminating": {From: stagestest.ForeignCluster, Given: func(s *plan.Snapshot) { s.Pods["sample-storage-114"].DeletionTimestamp = new(stagestest.NoonTime()) }, Does: []string{claim}},
		"reports where a pod differs": {
			From: stagestest.ForeignCluster, Given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-114"].Spec.Containers[0].Image = "foundationdb/fdb-kubernetes-monitor:7.3.77"
			},
			Does: []string{"adopt pod/sample-storage-114 unchanged, although it differs from the spec: containers[foundationdb].image: foundationdb/fdb-kubernetes-monitor:7.3.77, desired foundationdb/fdb-kubernetes-monitor:7.3.79", claim},
		},
		"reports where a PVC differs": {
			From: stagestest.ForeignCluster, Given: func(s *plan.Snapshot) {
				s.Volumes["sample-storage-114-data"].Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("16G")}
			}, Does: []string{pod, "adopt persistentvolumeclaim/sample-storage-114-data unchanged, although it differs from the spec: resources.requests.storage: 16G, desired 128G"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, AdoptSpecs) })
	}
}
