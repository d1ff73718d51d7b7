package inspect

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

// The words of the scheduler and the kubelet have counts and names, which differ between pods with the same problem.
func TestAProblemIsIdentifiedByCodesAndNotByItsMessage(t *testing.T) {
	unscheduled := func(reason, message string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.NodeName, pod.Status.Phase = "", corev1.PodPending
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message}}
		}
	}
	cannotStart := func(reason, message string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: v1beta2.ContainerMain, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}
		}
	}
	stays := func(finalizers ...string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.DeletionTimestamp, pod.Finalizers = &metav1.Time{Time: inspecttest.Noon.Add(-time.Minute)}, finalizers
		}
	}
	tests := map[string]struct {
		one, other func(*corev1.Pod)
		same       bool
	}{
		"pods that fit no node, in other words":       {unscheduled("Unschedulable", "0/3 nodes are available"), unscheduled("Unschedulable", "0/4 nodes are available"), true},
		"one that waits for a gate of its scheduling": {unscheduled("Unschedulable", "0/3 nodes are available"), unscheduled("SchedulingGated", "0/3 nodes are available"), false},
		"images that cannot be pulled":                {cannotStart("ImagePullBackOff", "Back-off pulling image a"), cannotStart("ImagePullBackOff", "Back-off pulling image b"), true},
		"an image and a configuration":                {cannotStart("ImagePullBackOff", "failed"), cannotStart("CreateContainerConfigError", "failed"), false},
		"the same finalizers in another order":        {stays("a/x", "b/y"), stays("b/y", "a/x"), true},
		"other finalizers":                            {stays("a/x"), stays("b/y"), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			var found []*Problem
			for i, edit := range []func(*corev1.Pod){tc.one, tc.other} {
				g := f.Cluster.ProcessGroup([]v1beta2.ProcessGroupID{"storage-1", "storage-2"}[i])
				pod := f.Pod(g).DeepCopy()
				edit(pod)
				f.Pods[pod.Name] = pod
				found = append(found, f.ProblemOf(g))
			}
			if found[0] == nil || found[1] == nil {
				t.Fatalf("%+v, %+v", found[0], found[1])
			}
			if same := found[0].Key == found[1].Key; same != tc.same {
				t.Errorf("same problem: %t, %+v and %+v", same, found[0].Key, found[1].Key)
			}
		})
	}
}
