package evictions

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestAgentPodsTolerateALostNodeForAMinuteIfRequested(t *testing.T) {
	minute := []corev1.Toleration{
		{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(60))},
		{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(60))},
	}
	sets := []string{"set how long pod agent-1 tolerates a lost node: not-ready 60 s, unreachable 60 s"}
	for name, tc := range map[string]struct {
		annotation string
		given      func(*v1beta2.FoundationDBBackup, *corev1.Pod)
		does       []string
		manual     bool
	}{
		"not requested":  {"", func(*v1beta2.FoundationDBBackup, *corev1.Pod) {}, nil, false},
		"requested":      {"true", func(*v1beta2.FoundationDBBackup, *corev1.Pod) {}, sets, false},
		"done":           {"true", func(_ *v1beta2.FoundationDBBackup, p *corev1.Pod) { p.Spec.Tolerations = minute }, nil, false},
		"invalid":        {"maybe", func(*v1beta2.FoundationDBBackup, *corev1.Pod) {}, nil, true},
		"another backup": {"true", func(_ *v1beta2.FoundationDBBackup, p *corev1.Pod) { p.Labels[v1beta2.LabelDeploymentName] = "other" }, nil, false},
		"a template that tolerates everything": {"true", func(b *v1beta2.FoundationDBBackup, _ *corev1.Pod) {
			b.Spec.PodTemplateSpec = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{{Operator: "Exists"}}}}
		}, nil, false},
		"not requested any more": {"false", func(_ *v1beta2.FoundationDBBackup, p *corev1.Pod) {
			p.Spec.Tolerations = minute
			p.Annotations = map[string]string{plan.AnnotationTolerationsBefore: `{"node.kubernetes.io/not-ready":300}`}
		}, []string{"set how long pod agent-1 tolerates a lost node: not-ready 300 s"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := &v1beta2.FoundationDBBackup{ObjectMeta: metav1.ObjectMeta{Name: "daily", Annotations: map[string]string{}}}
			if tc.annotation != "" {
				b.Annotations[plan.AnnotationTolerations] = tc.annotation
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "agent-1", Labels: map[string]string{v1beta2.LabelDeploymentName: b.DeploymentName()}}}
			tc.given(b, pod)
			s := plan.Snapshot{Backup: b, Agents: plan.AgentFacts{Pods: map[string]*corev1.Pod{"agent-1": pod}}}
			d := UpdateAgentTolerations.Decide(s)
			stagestest.Explained(t, d)
			got := stagestest.Described(d)
			if len(got) != len(tc.does) || len(got) == 1 && got[0] != tc.does[0] || (d.Hold != nil) != tc.manual {
				t.Errorf("%v, held %q, want %v", got, stagestest.Reason(d), tc.does)
			}
			for _, a := range d.Actions {
				if changed := a.(plan.Edit).Apply(s); len(UpdateAgentTolerations.Decide(changed).Actions) > 0 {
					t.Error("is not done by its action")
				}
			}
		})
	}
}
