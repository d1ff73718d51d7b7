package live_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The cluster file of a server that missed a change of coordinators leads nowhere, or to
// whoever has their addresses by now.
func TestAPodWhoseProcessesDoNotReportIsTriedLast(t *testing.T) {
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
	if diff := cmp.Diff([]string{"sample-log-3", "sample-log-2", "sample-log-1"}, orderOf(c, pods)); diff != "" {
		t.Error(diff)
	}
	// Its containers stay ready in the resource of a pod whose node does not report anymore.
	pods["sample-log-3"].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	if diff := cmp.Diff([]string{"sample-log-2", "sample-log-1", "sample-log-3"}, orderOf(c, pods)); diff != "" {
		t.Error(diff)
	}
}

func orderOf(c *v1beta2.FoundationDBCluster, pods map[string]*corev1.Pod) []string {
	var order []string
	for _, pod := range live.ToolPods(c, pods) {
		order = append(order, pod.Name)
	}
	return order
}

// A node can be gone for most of a minute before Kubernetes reports it of its pods.
func TestAPodOnAnUnreachableNodeIsTriedOnlyOnce(t *testing.T) {
	f := settled(t)
	f.observe(plan.ClusterResource | plan.Pods)
	reach := f.cluster.Transport
	var removed string
	requested := 0
	f.cluster.Transport = func(pod *corev1.Pod) admin.Transport {
		if removed == "" {
			removed = pod.Name // the best one
		}
		if pod.Name == removed {
			return lostTransport{&requested}
		}
		return reach(pod)
	}
	for range 3 {
		if facts, err := f.cluster.ReadExclusions(t.Context()); err != nil || !facts.ExclusionsRead {
			t.Fatalf("%v, %+v", err, facts)
		}
	}
	if s := f.observe(plan.ClusterResource | plan.Pods | plan.Database); s.Database.Status == nil {
		t.Error(s.Database.Unreachable)
	}
	if requested != 1 {
		t.Errorf("the pod on the removed node received %d times", requested)
	}
}

// lostTransport counts the commands that it loses.
type lostTransport struct{ requested *int }

func (l lostTransport) Run(context.Context, admin.Command) (admin.Result, error) {
	*l.requested++
	return admin.Result{}, &admin.TransportError{Started: true, Where: "a node that was removed", Err: errors.New("broken pipe")}
}

func (l lostTransport) Open(context.Context, admin.Command) (*admin.Session, error) {
	return nil, errors.New("no session is opened here")
}

// A connection to a pod reads the files of the credentials: a dashboard of hundreds of pods makes no more than it uses.
func TestNoMorePodsAreConnectedToThanRunACommand(t *testing.T) {
	f := settled(t)
	f.observe(plan.ClusterResource | plan.Pods)
	reach, connected := f.cluster.Transport, 0
	f.cluster.Transport = func(pod *corev1.Pod) admin.Transport {
		connected++
		return reach(pod)
	}
	if s := f.observe(plan.Database); s.Database.Status == nil {
		t.Fatal(s.Database.Unreachable)
	}
	if connected == 0 || connected > admin.PodTries {
		t.Errorf("%d pods, at most %d", connected, admin.PodTries)
	}
}
