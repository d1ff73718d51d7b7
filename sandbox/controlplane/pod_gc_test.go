package controlplane

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestPodsOfALostNodeAreCollectedOnlyOnceItIsDeletedOrOutOfService(t *testing.T) {
	ending := metav1.NewTime(time.Unix(1_800_000_000, 0))
	pod := func(name, node string, at *metav1.Time) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: name, DeletionTimestamp: at, Finalizers: []string{"test/keep"}}, Spec: corev1.PodSpec{NodeName: node},
		}
	}
	node := func(name string, ready corev1.ConditionStatus, taints ...corev1.Taint) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Taints: taints}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
		return n
	}
	out := corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: corev1.TaintEffectNoExecute}
	client := fake.NewClientset(
		node("up", corev1.ConditionTrue), node("down", corev1.ConditionUnknown), node("out", corev1.ConditionUnknown, out), node("back", corev1.ConditionTrue, out),
		pod("runs", "up", nil), pod("ends", "up", &ending), pod("ends-on-a-dead-node", "down", &ending), pod("on-a-dead-node", "down", nil),
		pod("ends-out-of-service", "out", &ending), pod("runs-out-of-service", "out", nil), pod("ends-on-a-node-that-is-back", "back", &ending),
		pod("of-a-deleted-node", "deleted", nil), pod("pending", "", nil), pod("ends-unscheduled", "", &ending),
	)
	deleted := func() []string {
		var names []string
		for _, a := range client.Actions() {
			if d, is := a.(interface{ GetName() string }); is && a.GetVerb() == "delete" {
				names = append(names, d.GetName())
			}
		}
		slices.Sort(names)
		client.ClearActions()
		return names
	}
	gc := &podGC{client: client}
	for _, want := range [][]string{
		{"ends-out-of-service", "ends-unscheduled"},
		{"of-a-deleted-node"},
	} {
		if err := gc.collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, deleted()); diff != "" {
			t.Error(diff)
		}
	}
}
