package commandstest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// CordonAllBut cordons all other nodes.
func (g *Given) CordonAllBut(node string) {
	g.Cluster.Cordoned = map[string]bool{}
	for _, name := range g.Cluster.Nodes {
		g.Cluster.Cordoned[name] = name != node
	}
}

// Fill puts a pod on each node that wants all of it.
func (g *Given) Fill() {
	for _, name := range g.Cluster.Nodes {
		g.Objects = append(g.Objects, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "big-" + name, Namespace: "elsewhere"},
			Spec: corev1.PodSpec{NodeName: name, Containers: []corev1.Container{{Name: "big", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"),
			}}}}},
		})
	}
}

// End has all pods that fill nodes succeed.
func (g *Given) End() {
	for _, o := range g.Objects {
		o.(*corev1.Pod).Status.Phase = corev1.PodSucceeded
	}
}

// NodeOf is the node of the first pod of a class.
func (g *Given) NodeOf(class v1beta2.ProcessClass) string {
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == class {
			return g.Cluster.Pods["sample-"+string(group.ProcessGroupID)].Spec.NodeName
		}
	}
	return ""
}

// PodsOn returns the pods on a node.
func (g *Given) PodsOn(node string) (pods []string) {
	for name, pod := range g.Cluster.Pods {
		if pod.Spec.NodeName == node {
			pods = append(pods, name)
		}
	}
	return pods
}

// Roomy is a cluster that is up, with nodes to go to.
func Roomy(t *testing.T) *Given {
	t.Helper()
	g := NewGiven(t)
	for i := range 12 {
		g.Cluster.Nodes = append(g.Cluster.Nodes, "spare-"+string(rune('a'+i)))
	}
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	return g
}

// WithTaintRule has taints of nodes replace process groups.
func WithTaintRule(g *Given) {
	g.Cluster.Resource.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{
		{Key: new("*"), DurationInSeconds: new(int64(86400))}, {Key: new("example.com/maintenance"), DurationInSeconds: new(int64(60))},
	}
	g.Cluster.Resource.Spec.AutomationOptions.Replacements.TaintReplacementTimeSeconds = new(60)
}

// Taint taints the node of the first storage pod.
func (g *Given) Taint(taints ...corev1.Taint) {
	g.Cluster.Taints = map[string][]corev1.Taint{g.NodeOf(v1beta2.ProcessClassStorage): taints}
}
