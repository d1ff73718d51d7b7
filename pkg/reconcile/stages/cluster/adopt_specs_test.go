package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// foreign returns a healthy cluster whose storage-114 was created by a tool with other hashes.
func foreign(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := stagestest.HealthyCluster(tb)
	g := stagestest.FirstOf(s, v1beta2.ProcessClassStorage)
	s.Pod(g).Annotations[v1beta2.AnnotationLastAppliedSpec] = "theirs"
	s.Volumes[g.PVCName(s.Cluster)].Annotations[v1beta2.AnnotationLastAppliedSpec] = "theirs"
	return s
}

func TestAdoptSpecs(t *testing.T) {
	const (
		pod   = "adopt pod/sample-storage-114 unchanged: it matches the spec"
		claim = "adopt persistentvolumeclaim/sample-storage-114-data unchanged: it matches the spec"
	)
	tests := map[string]stagestest.RemovalCase{
		"leaves alone what has our hashes": {From: stagestest.HealthyCluster},
		"takes a pod and its claim over":   {From: foreign, Does: []string{pod, claim}},
		"leaves a group alone that leaves": {From: foreign, Given: func(s *plan.Snapshot) {
			stagestest.FirstOf(*s, v1beta2.ProcessClassStorage).MarkForRemoval(stagestest.Noon)
		}},
		"leaves a pod alone that is terminating": {From: foreign, Given: func(s *plan.Snapshot) { s.Pods["sample-storage-114"].DeletionTimestamp = new(stagestest.NoonTime()) }, Does: []string{claim}},
		"reports where a pod differs": {
			From: foreign, Given: func(s *plan.Snapshot) {
				s.Pods["sample-storage-114"].Spec.Containers[0].Image = "foundationdb/fdb-kubernetes-monitor:7.3.77"
			},
			Does: []string{"adopt pod/sample-storage-114 unchanged, although it differs from the spec: containers[foundationdb].image: foundationdb/fdb-kubernetes-monitor:7.3.77, desired foundationdb/fdb-kubernetes-monitor:7.3.79", claim},
		},
		"reports where a PVC differs": {
			From: foreign, Given: func(s *plan.Snapshot) {
				s.Volumes["sample-storage-114-data"].Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("16G")}
			}, Does: []string{pod, "adopt persistentvolumeclaim/sample-storage-114-data unchanged, although it differs from the spec: resources.requests.storage: 16G, desired 128G"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.Check(t, AdoptSpecs) })
	}
}

// Adoption prevents that an object is replaced or recreated afterwards.
func TestAnAdoptedPodIsNotRecreated(t *testing.T) {
	s := foreign(t)
	changes := func() []string {
		return append(stagestest.Described(ReplaceMisconfiguredPods(readings.Options{}).Decide(s)), stagestest.Described(UpdatePods(readings.Options{}).Decide(s))...)
	}
	if got := changes(); len(got) == 0 {
		t.Fatal("what has another hash is left alone without having been adopted")
	}
	for _, a := range AdoptSpecs.Decide(s).Actions {
		adoption, ok := a.(plan.AdoptSpec)
		if !ok {
			t.Fatal(a.Describe())
		}
		if adoption.Kind == plan.KindPod {
			s.Pods[adoption.Name].Annotations[v1beta2.AnnotationLastAppliedSpec] = adoption.Hash
		} else {
			s.Volumes[adoption.Name].Annotations[v1beta2.AnnotationLastAppliedSpec] = adoption.Hash
		}
	}
	if got := changes(); len(got) > 0 {
		t.Errorf("after it was adopted: %v", got)
	}
}
