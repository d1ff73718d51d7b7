package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Others taint nodes, too: nothing of theirs may be lost.
func TestCordonAndUncordonKeepOtherTaints(t *testing.T) {
	disk := corev1.Taint{Key: "disk", Value: "slow", Effect: corev1.TaintEffectNoSchedule}
	ours := corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule}
	otherValue := ours
	otherValue.Value = "rack-12"
	otherEffect := ours
	otherEffect.Effect = corev1.TaintEffectNoExecute
	tests := map[string]struct {
		edit          interface{ Edit(n *corev1.Node) }
		before, after corev1.NodeSpec
	}{
		"a taint is added":                  {plan.CordonNode{Taint: &ours}, corev1.NodeSpec{Taints: []corev1.Taint{disk}}, corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{disk, ours}}},
		"a taint that is there stays as is": {plan.CordonNode{Taint: &ours}, corev1.NodeSpec{Taints: []corev1.Taint{otherValue}}, corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{otherValue}}},
		"without a taint":                   {plan.CordonNode{}, corev1.NodeSpec{Taints: []corev1.Taint{disk}}, corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{disk}}},
		"a taint goes whatever its value":   {plan.UncordonNode{Taint: &ours}, corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{disk, otherValue}}, corev1.NodeSpec{Taints: []corev1.Taint{disk}}},
		"another effect is another taint":   {plan.UncordonNode{Taint: &ours}, corev1.NodeSpec{Taints: []corev1.Taint{otherEffect}}, corev1.NodeSpec{Taints: []corev1.Taint{otherEffect}}},
	}
	for name, tc := range tests {
		n := &corev1.Node{Spec: tc.before}
		tc.edit.Edit(n)
		if diff := cmp.Diff(tc.after, n.Spec); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if done, ok := tc.edit.(interface{ Done(n *corev1.Node) bool }); !ok || !done.Done(n) {
			t.Errorf("%s: not done after it was done", name)
		}
	}
}
