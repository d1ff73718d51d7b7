package live_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// contested is a node that another user writes just before each of our first writes.
type contested struct {
	client.Client
	writes int
}

func (c *contested) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if c.writes > 0 {
		c.writes--
		return apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, o.GetName(), nil)
	}
	return c.Client.Patch(ctx, o, patch, opts...)
}

func TestCordonRetriesConflictingNodeUpdates(t *testing.T) {
	disk := corev1.Taint{Key: "disk", Effect: corev1.TaintEffectNoSchedule}
	ours := corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule}
	for conflicts, fails := range map[int]bool{0: false, 4: false, 5: true} {
		f := newField(t, sample(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n7"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{disk}}})
		f.cluster.Client = &contested{f.cluster.Client, conflicts}
		f.begin()
		err := f.cluster.Act(t.Context(), plan.CordonNode{Node: "n7", Taint: &ours})
		if (err != nil) != fails {
			t.Errorf("%d conflicts: %v", conflicts, err)
		}
		node := &corev1.Node{}
		if err := f.cluster.Client.Get(t.Context(), types.NamespacedName{Name: "n7"}, node); err != nil {
			t.Fatal(err)
		}
		want := corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{disk, ours}}
		if fails {
			want = corev1.NodeSpec{Taints: []corev1.Taint{disk}}
		}
		if diff := cmp.Diff(want, node.Spec); diff != "" {
			t.Errorf("%d conflicts (-want +got):\n%s", conflicts, diff)
		}
	}
}

func TestUncordoningAMissingNodeReturnsNotFound(t *testing.T) {
	f := newField(t, sample())
	f.begin()
	if err := f.cluster.Act(t.Context(), plan.UncordonNode{Node: "n9"}); !apierrors.IsNotFound(err) {
		t.Errorf("%v", err)
	}
}

// Nodes are read for specs with rules about taints, and for commands about nodes.
func TestNodesAreReadWhenACommandRequestsThem(t *testing.T) {
	f := newField(t, sample(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n7"}})
	for _, requested := range []bool{false, true} {
		if requested {
			f.cluster.ReadNodes()
		}
		s := plan.Snapshot{}
		if err := f.cluster.Observe(t.Context(), &s, plan.ClusterResource|plan.Nodes); err != nil {
			t.Fatal(err)
		}
		if (s.Nodes["n7"] != nil) != requested {
			t.Errorf("asked %t: %v", requested, s.Nodes)
		}
	}
}
