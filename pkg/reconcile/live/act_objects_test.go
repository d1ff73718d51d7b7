package live_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
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

// A service has the name of its pod, and an object that was recreated has the name of
// the one that was judged: the identity decides.
func TestRecreatedObjectsOfAGroupAreNotDeleted(t *testing.T) {
	const pod, claim, service = "pod storage-1", "claim storage-1-data", "service storage-1"
	tests := map[string]struct {
		judged map[string]types.UID
		left   []string
		fails  bool
	}{
		"all that were judged go": {
			judged: map[string]types.UID{"storage-1": pod, "storage-1-data": claim, "service/storage-1": service},
		},
		"a pod that was recreated stays, and what has not been deleted yet": {
			judged: map[string]types.UID{"storage-1": "an older one", "storage-1-data": claim, "service/storage-1": service},
			left:   []string{pod, claim, service}, fails: true,
		},
		"a service that was recreated stays": {
			judged: map[string]types.UID{"storage-1": pod, "storage-1-data": claim, "service/storage-1": "an older one"},
			left:   []string{service}, fails: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{
				&corev1.Pod{ObjectMeta: identified("storage-1", pod)},
				&corev1.PersistentVolumeClaim{ObjectMeta: identified("storage-1-data", claim)},
				&corev1.Service{ObjectMeta: identified("storage-1", service)},
			}
			f := newField(t, sample(), objects...)
			f.cluster.Client = identityChecker{f.cluster.Client}
			f.begin()
			err := f.cluster.Act(t.Context(), plan.DeleteGroupObjects{
				Group: "storage-1", Pod: "storage-1", Claim: "storage-1-data", Service: "storage-1", UIDs: tc.judged,
			})
			if apierrors.IsConflict(err) != tc.fails || (err == nil) == tc.fails {
				t.Errorf("error %v, want a conflict: %t", err, tc.fails)
			}
			if diff := cmp.Diff(tc.left, stillThere(t, f, objects)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

func identified(name, uid string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: key.Namespace, Name: name, UID: types.UID(uid)}
}

func stillThere(t *testing.T, f *field, objects []client.Object) []string {
	t.Helper()
	var left []string
	for _, o := range objects {
		uid := o.GetUID()
		switch err := f.api.Get(t.Context(), client.ObjectKeyFromObject(o), o); {
		case err == nil:
			left = append(left, string(uid))
		case !apierrors.IsNotFound(err):
			t.Fatal(err)
		}
	}
	return left
}

// identityChecker refuses, as an API server does and the fake one does not, to delete
// an object that is another than the caller means.
type identityChecker struct{ client.Client }

func (c identityChecker) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	there := o.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), there); err != nil {
		return err
	}
	meant := (&client.DeleteOptions{}).ApplyOptions(options).Preconditions
	if meant == nil || meant.UID == nil {
		return errors.New("deleted by name alone")
	}
	if *meant.UID != there.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{}, o.GetName(), errors.New("the UID in the precondition differs"))
	}
	return c.Client.Delete(ctx, o, options...)
}

// Exclusions are read where one can concern a group, and ended only by name; nothing is
// read of them while no group leaves and none is excluded.
func TestExclusionsOfRemainingGroupsAreReadAndIncludedByName(t *testing.T) {
	f := settled(t)
	if s := f.observe(plan.Coordination | plan.ClusterResource); s.Coordination.ExclusionsRead {
		t.Error("exclusions were read, and no group leaves")
	}
	group := f.resource().Status.ProcessGroups[0]
	if err := f.cli().Exclude(t.Context(), []string{group.ExclusionString(), "10.9.9.9"}); err != nil {
		t.Fatal(err)
	}
	f.setStatus(func(s *v1beta2.FoundationDBClusterStatus) {
		s.ProcessGroups[0].SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, sim.Noon)
	})
	s := f.observe(plan.Coordination | plan.ClusterResource)
	if want := []string{"10.9.9.9", group.ExclusionString()}; !s.Coordination.ExclusionsRead || !cmp.Equal(want, s.Coordination.Exclusions) {
		t.Errorf("read %t: %v, want %v", s.Coordination.ExclusionsRead, s.Coordination.Exclusions, want)
	}
	f.begin()
	if err := f.cluster.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.cluster.Act(t.Context(), plan.Include{Targets: []string{group.ExclusionString()}}); err != nil {
		t.Fatal(err)
	}
	if left := f.observe(plan.Coordination | plan.ClusterResource).Coordination.Exclusions; !cmp.Equal([]string{"10.9.9.9"}, left) {
		t.Errorf("left %v", left)
	}
}
