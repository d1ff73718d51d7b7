package operations

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// agent adds the pod of an agent.
func agent(name, deployment, node string, edits ...func(*corev1.Pod)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(stagestest.Noon.Add(-time.Minute)), Labels: map[string]string{v1beta2.LabelDeploymentName: deployment}},
			Spec:       corev1.PodSpec{NodeName: node},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}
		for _, edit := range edits {
			edit(pod)
		}
		if s.Agents.Pods == nil {
			s.Agents.Pods = map[string]*corev1.Pod{}
		}
		s.Agents.Pods[name] = pod
	}
}

func starting(p *corev1.Pod) { p.Status.Conditions = nil }

func TestEvictAgents(t *testing.T) {
	cordoned := func(s *plan.Snapshot) {
		s.Nodes = map[string]*corev1.Node{"node-1": {Spec: corev1.NodeSpec{Unschedulable: true}}, "node-2": {}}
	}
	with := stagestest.Combined
	const evictA = "recreate the pod of a backup agent: a"
	stagestest.Decides(t, EvictAgents([]string{"node-1"}), map[string]stagestest.Decision{
		"does nothing without agents":      {Given: cordoned},
		"leaves agents on other nodes":     {Given: with(cordoned, agent("a", "daily", "node-2"))},
		"evicts an agent":                  {Given: with(cordoned, agent("a", "daily", "node-1")), Does: []string{evictA}},
		"evicts one of a Deployment first": {Given: with(cordoned, agent("a", "daily", "node-1"), agent("b", "daily", "node-1")), Does: []string{evictA}, Holds: "b: one pod of a Deployment at a time"},
		"evicts one of each Deployment":    {Given: with(cordoned, agent("a", "daily", "node-1"), agent("b", "hourly", "node-1")), Does: []string{evictA, "recreate the pod of a backup agent: b"}},
		"waits for the one that starts": {
			Given: with(cordoned, agent("a", "daily", "node-1"), agent("c", "daily", "node-2", starting)), Holds: "a: agent c of its Deployment is not ready yet",
		},
		"does not wait for one that never gets ready": {
			Given: with(cordoned, agent("a", "daily", "node-1"), agent("c", "daily", "node-2", starting, func(p *corev1.Pod) {
				p.CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(-time.Hour))
			})), Does: []string{evictA},
		},
		"does not keep one that is not ready itself": {Given: with(cordoned, agent("a", "daily", "node-1", starting), agent("c", "daily", "node-2", starting)), Does: []string{evictA}},
		"does not evict twice":                       {Given: with(cordoned, agent("a", "daily", "node-1", func(p *corev1.Pod) { p.DeletionTimestamp = new(stagestest.NoonTime()) }))},
		"waits for a cordon":                         {Given: with(cordoned, agent("a", "daily", "node-1"), func(s *plan.Snapshot) { s.Nodes["node-1"].Spec.Unschedulable = false }), Holds: "not cordoned"},
		"does not guess at nodes":                    {Given: with(agent("a", "daily", "node-1"), func(s *plan.Snapshot) { s.Nodes, s.NodesHidden = nil, "forbidden" }), Holds: "forbidden"},
	})
}
