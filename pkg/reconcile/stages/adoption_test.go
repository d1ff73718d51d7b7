package stages

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// Adoption prevents that an object is replaced or recreated afterwards.
func TestAnAdoptedPodIsNotRecreated(t *testing.T) {
	s := stagestest.ForeignCluster(t)
	changes := func() []string {
		return append(stagestest.Described(replacements.ReplaceMisconfiguredPods(plan.Options{}).Decide(s)), stagestest.Described(cluster.UpdatePods(plan.Options{}).Decide(s))...)
	}
	if got := changes(); len(got) == 0 {
		t.Fatal("what has another hash is left alone without having been adopted")
	}
	for _, a := range cluster.AdoptSpecs.Decide(s).Actions {
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
