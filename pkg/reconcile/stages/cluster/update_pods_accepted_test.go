package cluster

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestARunningPodStaysIfTheAPIServerRefusesItsSuccessor(t *testing.T) {
	storage := v1beta2.ProcessClassStorage
	refused := func(object string, kind plan.RefusalKind) plan.SuccessorFacts {
		return plan.SuccessorFacts{Read: true, Refused: map[v1beta2.ProcessClass]plan.Refusal{storage: plan.NewRefusal(object, "sample-storage-1", kind, "rule", "the text")}}
	}
	tests := map[string]struct {
		facts plan.SuccessorFacts
		stays bool
	}{
		"it is accepted":                    {facts: plan.SuccessorFacts{Read: true}},
		"a policy refuses the pod":          {facts: refused(plan.WrittenPod, plan.RefusedByPolicy), stays: true},
		"the validation refuses the pod":    {facts: refused(plan.WrittenPod, plan.RefusedAsInvalid), stays: true},
		"a LimitRange refuses the pod":      {facts: refused(plan.WrittenPod, plan.RefusedByLimitRange), stays: true},
		"a quota has no room for one more":  {facts: refused(plan.WrittenPod, plan.RefusedByQuota)},
		"only one more PVC is refused":      {facts: refused(plan.WrittenPVC, plan.RefusedByPolicy)},
		"the answer is unknown":             {facts: plan.SuccessorFacts{Read: true, Unknown: map[v1beta2.ProcessClass]string{storage: "no answer"}}},
		"a pod of another class is refused": {facts: plan.SuccessorFacts{Read: true, Refused: map[v1beta2.ProcessClass]plan.Refusal{v1beta2.ProcessClassLog: plan.NewRefusal(plan.WrittenPod, "p", plan.RefusedByPolicy, "", "")}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			stagestest.FirstPod(&s).Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
			s.Successors = tc.facts
			stage := UpdatePods(plan.Options{})
			if stage.Facets(s)&plan.Successors == 0 {
				t.Error("the dry run is not read")
			}
			d := stage.Decide(s)
			if stays := !deletesPods(d); stays != tc.stays {
				t.Fatalf("stays %t, want %t: %v, hold %+v", stays, tc.stays, d.Actions, d.Hold)
			}
			if tc.stays && (!d.Hold.Manual || !strings.Contains(d.Hold.Text(), "the text")) {
				t.Errorf("holds with %+v", d.Hold)
			}
		})
	}
}

func TestAPodIsTriedOnlyBeforeAnotherIsDeleted(t *testing.T) {
	if s := stagestest.HealthyCluster(t); UpdatePods(plan.Options{}).Facets(s)&plan.Successors != 0 {
		t.Error("a pass with nothing to update makes a dry run")
	}
}
