package inspect

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

// Every user sees the same progress of a change, by what was observed.
func TestRolloutProgressIsDerivedFromTheObservedState(t *testing.T) {
	all := func(f Facts, c v1beta2.ProcessGroupConditionType, image string, of func(v1beta2.ProcessClass) bool) {
		for _, g := range f.Groups() {
			if of(g.ProcessClass) {
				g.SetCondition(c, noon)
				f.Pod(g).Spec.Containers = []corev1.Container{{Name: v1beta2.ContainerMain, Image: "foundationdb/fdb-kubernetes-monitor:" + image}}
			}
		}
	}
	isStorage := func(c v1beta2.ProcessClass) bool { return c == v1beta2.ProcessClassStorage }
	tests := map[string]struct {
		given func(*testing.T, *Facts)
		want  string // empty for none
	}{
		"nothing changes": {given: func(*testing.T, *Facts) {}},
		"no process is upgraded yet": {
			given: func(_ *testing.T, f *Facts) {
				f.Cluster.Spec.Version = "7.4.6"
				all(*f, v1beta2.ConditionIncorrectPodSpec, "7.3.79", anyClass)
			},
			want: "upgrade 7.3.79 → 7.4.6: processes 0 of 12, transaction pods 0 of 7, storage pods 0 of 5",
		},
		"processes are upgraded, and pods of storage are not": {
			given: func(_ *testing.T, f *Facts) {
				f.Cluster.Spec.Version, f.Cluster.Status.RunningVersion = "7.4.6", "7.4.6"
				for address, p := range f.Database.Status.Cluster.Processes {
					p.Version = "7.4.6"
					f.Database.Status.Cluster.Processes[address] = p
				}
				all(*f, v1beta2.ConditionIncorrectPodSpec, "7.3.79", isStorage)
			},
			want: "upgrade 7.3.79 → 7.4.6: processes done, transaction pods done, storage pods 0 of 5",
		},
		"the database does not list its processes": {
			given: func(t *testing.T, f *Facts) {
				t.Helper()
				f.Cluster.Spec.Version = "7.4.6"
				f.Database.Status = inspecttest.Recorded(t, "28-quorum-lost")
			},
			want: "upgrade 7.3.79 → 7.4.6: processes unknown, transaction pods done, storage pods done",
		},
		"pods have another spec": {
			given: func(_ *testing.T, f *Facts) { all(*f, v1beta2.ConditionIncorrectPodSpec, "7.3.79", isStorage) },
			want:  "new pod spec: transaction pods done, storage pods 0 of 5",
		},
		"a pod that is being deleted is not done": {
			given: func(_ *testing.T, f *Facts) {
				all(*f, v1beta2.ConditionIncorrectPodSpec, "7.3.79", isStorage)
				g := f.Cluster.ProcessGroup("storage-1")
				g.ClearCondition(v1beta2.ConditionIncorrectPodSpec)
				f.Cluster.ProcessGroup("storage-2").ClearCondition(v1beta2.ConditionIncorrectPodSpec)
				f.Pod(g).DeletionTimestamp = new(metav1.NewTime(noon))
			},
			want: "new pod spec: transaction pods done, storage pods 1 of 5",
		},
		"arguments differ": {
			given: func(_ *testing.T, f *Facts) {
				f.Cluster.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionIncorrectCommandLine, noon)
			},
			want: "new arguments: processes 11 of 12",
		},
		"a group that is marked for removal keeps no rollout from completing": {
			given: func(_ *testing.T, f *Facts) {
				g := f.Cluster.ProcessGroup("storage-1")
				g.SetCondition(v1beta2.ConditionIncorrectPodSpec, noon)
				g.MarkForRemoval(noon)
			},
		},
		"a cluster without a database": {
			given: func(_ *testing.T, f *Facts) { f.Cluster.Status.Configured, f.Cluster.Spec.Version = false, "7.4.6" },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(t, &f)
			got := ""
			if v := f.Rollout(); v != nil {
				got = RolloutText(*v)
			}
			if got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}
