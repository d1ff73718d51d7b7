package admission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestThePeakOfChangesIsComparedWithTheRulesOfTheNamespace(t *testing.T) {
	old, successor := podOf(amounts("cpu", "1"), amounts("cpu", "1")), podOf(amounts("cpu", "1"), amounts("cpu", "2"))
	pods := quota("compute", amounts("pods", "7", "limits.cpu", "4", "configmaps", "0"), amounts("pods", "6", "limits.cpu", "3", "configmaps", "1"))
	few := []admission.QuotaUse{
		{Quota: "compute", Resource: "limits.cpu", Used: "3", Peak: "5", Hard: "4", Exceeded: true},
		{Quota: "compute", Resource: "pods", Used: "6", Peak: "7", Hard: "7"},
	}
	tests := map[string]struct {
		facts func(*plan.NamespaceFacts)
		acts  []plan.Action
		want  *admission.Rules
	}{
		"the successor exists beside the old pod": {facts: pods, acts: []plan.Action{plan.CreatePod{Object: successor}}, want: &admission.Rules{Quotas: few, LimitRanges: []admission.LimitRangeConflict{}}},
		"nothing is created":                      {facts: pods, acts: []plan.Action{plan.DeletePods{}}},
		"a quota of other objects":                {facts: quota("q", amounts("configmaps", "0"), nil), acts: []plan.Action{plan.CreatePod{Object: successor}}},
		"a PVC above the maximum": {
			facts: limits(corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Max: amounts("storage", "10Gi")}), acts: []plan.Action{plan.CreatePVC{Object: claim("16Gi", "")}},
			want: &admission.Rules{Quotas: []admission.QuotaUse{}, LimitRanges: []admission.LimitRangeConflict{{LimitRange: "range", ObjectKind: plan.WrittenPVC, Objects: 1}}},
		},
		"neither can be read": {
			facts: func(f *plan.NamespaceFacts) { f.QuotasHidden = "forbidden" }, acts: []plan.Action{plan.CreatePod{Object: successor}},
			want: &admission.Rules{Quotas: []admission.QuotaUse{}, LimitRanges: []admission.LimitRangeConflict{}, Unknown: []string{"forbidden"}},
		},
		"neither can be read, and nothing is created": {facts: func(f *plan.NamespaceFacts) { f.QuotasHidden = "forbidden" }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var facts plan.NamespaceFacts
			tc.facts(&facts)
			p := admission.NewPeak(facts, []metav1.Object{old})
			existing := []metav1.Object{old}
			for _, a := range tc.acts {
				if p.Acted(a) {
					existing = append(existing, admission.Created(a))
					p.Count(existing)
					p.Count([]metav1.Object{old}) // the new one is removed again
				}
			}
			if diff := cmp.Diff(tc.want, p.Rules()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
