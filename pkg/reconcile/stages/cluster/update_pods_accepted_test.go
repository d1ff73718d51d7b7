package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
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
			if stays := !readings.Has[plan.DeletePods](d); stays != tc.stays {
				t.Fatalf("stays %t, want %t: %v, hold %+v", stays, tc.stays, d.Actions, d.Hold)
			}
			if tc.stays && (!d.Hold.Manual || !strings.Contains(d.Hold.Text(), "the text")) {
				t.Errorf("holds with %+v", d.Hold)
			}
		})
	}
}

// quotaOf is a quota of requested memory, with what it has left.
func quotaOf(left string, edit func(*corev1.ResourceQuota)) plan.SuccessorFacts {
	hard := resource.MustParse("100Gi")
	used := hard.DeepCopy()
	used.Sub(resource.MustParse(left))
	q := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "memory"}, Status: corev1.ResourceQuotaStatus{
		Hard: corev1.ResourceList{corev1.ResourceRequestsMemory: hard}, Used: corev1.ResourceList{corev1.ResourceRequestsMemory: used},
	}}
	edit(&q)
	return plan.SuccessorFacts{Read: true, Namespace: plan.NamespaceFacts{Quotas: []corev1.ResourceQuota{q}}}
}

func TestARunningPodStaysIfAQuotaHasNoRoomForTheLargerOne(t *testing.T) {
	whole := func(*corev1.ResourceQuota) {}
	scope := func(scope corev1.ResourceQuotaScope) func(*corev1.ResourceQuota) {
		return func(q *corev1.ResourceQuota) { q.Spec.Scopes = []corev1.ResourceQuotaScope{scope} }
	}
	tests := map[string]struct {
		// before is the memory of the pods that run, of which the spec has 1Gi.
		before string
		pods   int
		facts  plan.SuccessorFacts
		stay   int
	}{
		"it is as large":                   {before: "1Gi", pods: 1, facts: quotaOf("0", whole)},
		"it is smaller, above the maximum": {before: "2Gi", pods: 1, facts: quotaOf("-5Gi", whole)},
		"it is larger than what is left":   {before: "512Mi", pods: 1, facts: quotaOf("511Mi", whole), stay: 1},
		"it is as large as what is left":   {before: "512Mi", pods: 1, facts: quotaOf("512Mi", whole)},
		"there is room for one of two":     {before: "512Mi", pods: 2, facts: quotaOf("1000Mi", whole), stay: 1},
		"there is room for both":           {before: "512Mi", pods: 2, facts: quotaOf("1Gi", whole)},
		"the quota is about other pods":    {before: "512Mi", pods: 1, facts: quotaOf("0", scope(corev1.ResourceQuotaScopeTerminating))},
		"the quota is about such pods":     {before: "512Mi", pods: 1, facts: quotaOf("0", scope(corev1.ResourceQuotaScopeNotTerminating)), stay: 1},
		"the quotas cannot be read":        {before: "512Mi", pods: 1, facts: plan.SuccessorFacts{Read: true, Namespace: plan.NamespaceFacts{QuotasHidden: "forbidden"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			for _, settings := range s.Cluster.Spec.Processes {
				setMemory(&settings.PodTemplate.Spec, "1Gi")
			}
			var deleted plan.DeletePods
			for _, g := range s.Cluster.Status.ProcessGroups {
				if g.ProcessClass == v1beta2.ProcessClassStorage && len(deleted.Pods) < tc.pods {
					pod := s.Pod(g)
					setMemory(&pod.Spec, tc.before)
					deleted.Pods = append(deleted.Pods, plan.PodOfGroup{Group: g.ProcessGroupID, Name: pod.Name})
				}
			}
			s.Successors = tc.facts
			d := keepRefused(s, plan.Decision{Actions: []plan.Action{deleted}})
			left := 0
			for _, a := range d.Actions {
				left += len(a.(plan.DeletePods).Pods)
			}
			if left != tc.pods-tc.stay {
				t.Fatalf("%d of %d are deleted, %d must stay: %+v", left, tc.pods, tc.stay, d)
			}
			if tc.stay > 0 && (d.Hold.Code != plan.HoldQuotaExhausted || d.Hold.Manual || !strings.Contains(d.Hold.Text(), "ResourceQuota memory has ")) {
				t.Errorf("holds with %+v", d.Hold)
			}
		})
	}
}

func setMemory(spec *corev1.PodSpec, amount string) {
	list := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(amount)}
	for i, c := range spec.Containers {
		if c.Name == v1beta2.ContainerMain {
			spec.Containers[i].Resources = corev1.ResourceRequirements{Requests: list, Limits: list}
		}
	}
}

func TestAPodIsTriedOnlyBeforeAnotherIsDeleted(t *testing.T) {
	if s := stagestest.HealthyCluster(t); UpdatePods(plan.Options{}).Facets(s)&plan.Successors != 0 {
		t.Error("a pass with nothing to update makes a dry run")
	}
}
