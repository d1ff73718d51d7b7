package commandstest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// NodeWith is the first node with pods that are, or are not, all stateless.
func (g *Given) NodeWith(stateless bool) string {
	for _, node := range g.Cluster.Nodes {
		pods, withData := 0, 0
		for _, pod := range g.Cluster.Pods {
			if pod.Spec.NodeName == node {
				pods++
				if v1beta2.ProcessClass(pod.Labels[v1beta2.LabelProcessClass]).IsStateful() {
					withData++
				}
			}
		}
		if pods > 0 && (withData == 0) == stateless {
			return node
		}
	}
	g.T.Fatalf("no node has such pods")
	return ""
}

// KeepAll has the spec keep every process group from being replaced.
func (g *Given) KeepAll() {
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		g.Cluster.Resource.Spec.CancelReplacementsForInstance = append(g.Cluster.Resource.Spec.CancelReplacementsForInstance, group.ProcessGroupID)
	}
}

// StoragePods are two pods of class storage on different nodes.
func (g *Given) StoragePods() (one, other *corev1.Pod) {
	for _, pod := range g.Cluster.Pods {
		switch {
		case pod.Labels[v1beta2.LabelProcessClass] != string(v1beta2.ProcessClassStorage):
		case one == nil:
			one = pod
		case pod.Spec.NodeName != one.Spec.NodeName:
			return one, pod
		}
	}
	g.T.Fatal("there are no two such pods")
	return nil, nil
}

// Asks returns the report of kubectl fdb can.
func (g *Given) Asks(args ...string) lists.CanReport {
	g.T.Helper()
	g.Run(append(append([]string{"can"}, args...), "-o", "json")...)
	var report lists.CanReport
	if err := json.Unmarshal(g.Out.Bytes(), &report); err != nil {
		g.T.Fatalf("%v\n%s%s", err, &g.Out, &g.Err)
	}
	return report
}

// Healthy returns a cluster that has been up for long.
func Healthy(t *testing.T) *Given {
	t.Helper()
	g := Up(t)
	g.Cluster.Tick(20 * time.Minute)
	return g
}

// Unpause has agents go on without giving them time to do anything.
func (v *Vault) Unpause() { v.Tool(v.T.Context(), "fdbbackup", "resume") }

// UnresponsiveSession has the database not answer.
func UnresponsiveSession(g *Given) {
	g.Connect = func() (session.Session, error) { return Mute{Simulated{g.Cluster, g}, nil}, nil }
}

// UID is that of the restore in the database.
func (v *Vault) UID() string {
	v.T.Helper()
	var status inspect.RestoreStatusView
	if err := json.Unmarshal([]byte(v.Must(exit.ExitDone, "", "restore", "status", "again", "-o", "json")), &status); err != nil || status.UID == "" {
		v.T.Fatalf("uid %q: %v", status.UID, err)
	}
	return status.UID
}

// PodsOf are the names of the pods of a class, in the order of the resource.
func (g *Given) PodsOf(class string) []string {
	var names []string
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if string(group.ProcessClass) == class {
			names = append(names, group.PodName(g.Cluster.Resource))
		}
	}
	return names
}

// WithoutNode is a cluster in which a storage pod was lost and no node takes the new one.
func WithoutNode(t *testing.T) (g *Given, pod string) {
	t.Helper()
	g = Up(t)
	pod = g.PodsOf("storage")[1]
	g.Cluster.Unschedulable = map[string]bool{pod: true}
	g.Cluster.KillPod(pod)
	if code := g.Run("reconcile", "sample", "--yes"); code != exit.ExitWaiting {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	g.Cluster.Tick(38 * time.Minute)
	g.Cluster.Pods[pod].Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/5 nodes are available: 5 Insufficient memory.",
		LastTransitionTime: metav1.NewTime(g.Cluster.Now().Add(-38 * time.Minute)),
	}}}
	return g, pod
}

// Named puts the names of this cluster's pods in the place of POD and OTHER.
func (g *Given) Named(text string) string {
	pods := g.PodsOf("storage")
	if len(pods) == 0 {
		return text
	}
	return strings.NewReplacer("POD", "pod/"+pods[1], "OTHER", strings.TrimPrefix(pods[0], "sample-")).Replace(text)
}
