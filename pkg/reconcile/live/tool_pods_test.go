package live_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
)

// The cluster file of a server that missed a change of coordinators leads nowhere, or to
// whoever has their addresses by now.
func TestAPodWhoseServersAreSilentIsAskedLast(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c := &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb"}}
	pods := map[string]*corev1.Pod{}
	for i, id := range []v1beta2.ProcessGroupID{"log-1", "log-2", "log-3"} {
		g := &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: v1beta2.ProcessClassLog}
		c.Status.ProcessGroups = append(c.Status.ProcessGroups, g)
		pods[g.PodName(c)] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: g.PodName(c), CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(i) * time.Hour))},
			Status: corev1.PodStatus{
				Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, Ready: true}},
			},
		}
	}
	c.Status.ProcessGroups[0].SetCondition(v1beta2.ConditionMissingProcesses, noon)
	c.Status.ProcessGroups[1].MarkForRemoval(noon)
	var order []string
	for _, pod := range live.ToolPods(c, pods) {
		order = append(order, pod.Name)
	}
	if diff := cmp.Diff([]string{"sample-log-3", "sample-log-2", "sample-log-1"}, order); diff != "" {
		t.Error(diff)
	}
}
