package lists

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestLeftoversNameTheCommandsThatCompleteOrRevertThem(t *testing.T) {
	const passes = "kubectl fdb reconcile sample --wait"
	mark := func(f *inspect.Facts, id v1beta2.ProcessGroupID) *v1beta2.ProcessGroupStatus {
		g := f.Cluster.ProcessGroup(id)
		g.MarkForRemoval(inspecttest.Noon.Add(-time.Minute))
		return g
	}
	exclude := func(f *inspect.Facts, id v1beta2.ProcessGroupID) {
		inspecttest.Exclude(f.Snapshot, fdb.ExcludedServer{Locality: f.Cluster.ProcessGroup(id).ExclusionString()})
	}
	lock := func(f *inspect.Facts, owner string) {
		f.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
		f.Cluster.Spec.LockOptions.DisableLocks = new(bool)
		f.Coordination = plan.CoordinationFacts{Read: true, Lock: &fdb.Lock{Owner: owner, Start: inspecttest.Noon, End: inspecttest.Noon.Add(time.Minute)}}
	}
	tests := map[string]struct {
		given func(*inspect.Facts)
		want  []string
	}{
		"nothing": {given: func(*inspect.Facts) {}},
		"a group that is marked and not excluded": {
			given: func(f *inspect.Facts) { mark(f, "storage-3") },
			want:  []string{"storage-3 is marked for removal, and not excluded", passes, "kubectl fdb replace sample storage-3 --undo"},
		},
		"groups that are marked and excluded": {
			given: func(f *inspect.Facts) {
				mark(f, "storage-3")
				mark(f, "storage-4")
				exclude(f, "storage-3")
				exclude(f, "storage-4")
			},
			want: []string{"storage-3, storage-4 are marked for removal and excluded", passes, "kubectl fdb replace sample storage-3 storage-4 --undo --include --wait"},
		},
		"a group that is drained has no way back": {
			given: func(f *inspect.Facts) { mark(f, "storage-3").SetExcluded(inspecttest.Noon) },
			want:  []string{"storage-3 is being removed", passes, ""},
		},
		"a marked group whose pod is deleted has no way back": {
			given: func(f *inspect.Facts) { mark(f, "storage-3"); delete(f.Pods, "sample-storage-3") },
			want:  []string{"storage-3 is being removed", passes, ""},
		},
		"a group that is excluded alone": {
			given: func(f *inspect.Facts) { exclude(f, "storage-3") },
			want:  []string{"storage-3 is excluded, and not marked for removal", "", "kubectl fdb include sample storage-3 --wait"},
		},
		"a pod that was deleted and not recreated": {
			given: func(f *inspect.Facts) { delete(f.Pods, "sample-log-2") },
			want:  []string{"log-2 has no pod", passes, ""},
		},
		"a cordoned node": {
			given: func(f *inspect.Facts) {
				name := f.Pods["sample-storage-3"].Spec.NodeName
				f.Nodes = map[string]*corev1.Node{name: {Spec: corev1.NodeSpec{Unschedulable: true}}}
			},
			want: []string{"node node-3 is cordoned", "", "kubectl fdb uncordon sample node-3"},
		},
		"a node with a taint of cordon and no pod any more": {
			given: func(f *inspect.Facts) {
				f.Nodes = map[string]*corev1.Node{"empty": {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{plan.AnnotationCordonTaints: "[]"}}}}
			},
			want: []string{"node empty is cordoned", "", "kubectl fdb uncordon sample empty"},
		},
		"a cordoned node of others": {
			given: func(f *inspect.Facts) {
				f.Nodes = map[string]*corev1.Node{"other": {Spec: corev1.NodeSpec{Unschedulable: true}}}
			},
		},
		"a zone under maintenance": {
			given: func(f *inspect.Facts) {
				left := 60.0
				f.Database.Status.Cluster.MaintenanceZone, f.Database.Status.Cluster.MaintenanceSecondsRemaining = "rack-1", &left
			},
			want: []string{"zone rack-1 is under maintenance", "", "kubectl fdb maintenance off sample"},
		},
		"the lock of this control-plane instance": {
			given: func(f *inspect.Facts) { lock(f, "dc1") },
			want:  []string{"dc1 holds the database lock", "", "kubectl fdb locks release sample"},
		},
		"the lock of another control-plane instance": {given: func(f *inspect.Facts) { lock(f, "dc2") }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			left := NewLeftovers(f, commands)
			var got []string
			for _, l := range left.Items {
				got = append(got, l.Text(), l.Complete, l.Revert)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(left.Unknown) > 0 {
				t.Errorf("unknown: %v\n%s", left.Unknown, diff)
			}
		})
	}
}

var commands = inspect.Commands{FDB: func(words ...string) string { return "kubectl fdb " + strings.Join(words, " ") }}

// What could not be read is no proof that nothing is half done.
func TestUnreadableFactsAreListedAsUnknownLeftovers(t *testing.T) {
	f := healthy(t)
	f.Database = plan.DatabaseFacts{Unreachable: "timed out after 60s"}
	f.NodesHidden = "forbidden"
	f.Cluster.Spec.LockOptions.DisableLocks = new(bool)
	f.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
	want := []LeftoverKind{LeftExcluded, LeftCordoned, LeftMaintenance, LeftLock}
	if diff := cmp.Diff(want, NewLeftovers(f, commands).Unknown); diff != "" {
		t.Error(diff)
	}
}
