package frame_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestTheChangeWriterPrintsEachClusterChangeOnce(t *testing.T) {
	tests := map[string]struct {
		// before and then change the second frame's sight of a healthy cluster.
		before, then func(f *frame.Input)
		want         []string
	}{
		"nothing where nothing changed": {},
		"nothing when only ages change": {
			before: func(f *frame.Input) { inspecttest.Unresponsiveness(f.Snapshot, "storage-1", 14*time.Minute) },
			then:   func(f *frame.Input) { inspecttest.Unresponsiveness(f.Snapshot, "storage-1", 16*time.Minute) },
		},
		"a condition that came": {
			then: func(f *frame.Input) {
				f.Cluster.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionPodFailing, noon)
			},
			want: []string{"Degraded: 1 storage group with PodFailing 0s (storage-1)", "storage-1: PodFailing"},
		},
		"one that went": {
			before: func(f *frame.Input) {
				f.Cluster.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionPodFailing, noon)
			},
			want: []string{"Healthy: all data has its 2 copies, safe to lose 1 more zone; matches its spec", "storage-1: no longer PodFailing"},
		},
		"a mark for removal": {
			then: func(f *frame.Input) { f.Cluster.ProcessGroup("storage-1").MarkForRemoval(noon) },
			want: []string{"storage-1: marked for removal", "storage-1 at 127.0.2.1:4501: exclusion pending"},
		},
		"a group that was removed": {
			then: func(f *frame.Input) { f.Cluster.Status.ProcessGroups = f.Cluster.Status.ProcessGroups[1:] },
			want: []string{"log-1: removed"},
		},
		"a source in trouble, and again well": {
			before: func(f *frame.Input) {
				f.Sources = append(f.Sources, frame.NewSource("events", noon, noon, "forbidden"))
			},
			then: func(f *frame.Input) {
				f.Sources = append(f.Sources, frame.NewSource("preview", noon, noon, "a timeout"))
			},
			want: []string{"preview: no answer: a timeout"},
		},
		"a lock": {
			then: func(f *frame.Input) {
				f.Lease = inspect.Lease{Read: true, Holder: "alice", Until: noon.Add(time.Minute)}
			},
			want: []string{"the Lease: held by alice"},
		},
		"a plan, and what it waits for": {
			before: func(f *frame.Input) { f.Plan = &planned.PlanView{Digest: "a"} },
			then: func(f *frame.Input) {
				f.Plan = &planned.PlanView{
					Digest: "b", Items: []planned.PlanItem{{ActionRecord: inspect.ActionRecord{Summary: "create pod p"}}},
					Holds: []planned.PlanHold{{Stage: "RemovePods", HoldRecord: inspect.HoldRecord{Reason: "up for 12s"}}},
				}
			},
			want: []string{"the next pass would take 1 action, first: create pod p", "the next pass would wait at RemovePods: up for 12s"},
		},
		"a plan that only waits": {
			before: func(f *frame.Input) { f.Plan = &planned.PlanView{Digest: "b"} },
			then:   func(f *frame.Input) { f.Plan = held("the database is unknown") },
			want:   []string{"the next pass would wait at RemovePods: the database is unknown"},
		},
		"a plan without anything": {
			before: func(f *frame.Input) { f.Plan = held("up for 12s") },
			then:   func(f *frame.Input) { f.Plan = &planned.PlanView{Digest: "b"} },
			want:   []string{"the next pass has nothing to do"},
		},
		"a taint that was removed": {
			before: tainted("node-1", "example.com/slow"),
			then:   tainted("node-1"),
			want:   []string{"node node-1: no longer tainted example.com/slow:NoSchedule"},
		},
		"nodes that cannot be read any more": {
			before: tainted("node-1", "example.com/slow"),
			then: func(f *frame.Input) {
				tainted("node-1")(f)
				f.NodesHidden = "forbidden"
			},
		},
		"the same hold with another age": {
			before: func(f *frame.Input) { f.Plan = held("up for 12s") },
			then:   func(f *frame.Input) { f.Plan = held("up for 14s") },
		},
		"a database that does not answer": {
			then: func(f *frame.Input) { f.Database = plan.DatabaseFacts{Unreachable: "no answer"} },
			want: []string{"Unknown: no answer from the database: no answer"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			reporter := &ui.ChangeWriter{}
			reporter.Changes(seenWith(t, tc.before))
			if diff := cmp.Diff(tc.want, reporter.Changes(seenWith(t, tc.then))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// tainted gives a node taints, without effect on the cluster.
func tainted(node string, keys ...string) func(*frame.Input) {
	return func(f *frame.Input) {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
		for _, key := range keys {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		}
		f.Nodes = map[string]*corev1.Node{node: n}
	}
}

func held(reason string) *planned.PlanView {
	return &planned.PlanView{Digest: "a", Holds: []planned.PlanHold{{Stage: "RemovePods", HoldRecord: inspect.HoldRecord{Reason: reason}}}}
}

func seenWith(t *testing.T, edit func(*frame.Input)) frame.Frame {
	t.Helper()
	in := frame.Input{Facts: healthy(t), History: &inspect.DrainHistory{}, Sources: []frame.Source{frame.NewSource(frame.SourceOfKubernetes, noon, time.Time{}, "")}}
	if edit != nil {
		edit(&in)
	}
	return frame.NewFrame(meta, in)
}

func TestTheChangeWriterBeginsAgainWithAnotherClusterOfTheSameName(t *testing.T) {
	reporter := &ui.ChangeWriter{}
	v := seenWith(t, func(f *frame.Input) { f.Cluster.UID = "a" })
	reporter.Changes(v)
	unknown := v
	unknown.UID = ""
	if lines := reporter.Changes(unknown); len(lines) != 0 {
		t.Errorf("an unknown UID is no other cluster: %q", lines)
	}
	v.UID = "b"
	want := []string{"another cluster of the same name from here: UID b, before a", v.Status.Summary}
	if diff := cmp.Diff(want, reporter.Changes(v)); diff != "" {
		t.Error(diff)
	}
}

func TestTheChangeWriterBeginsWithTheCurrentStatus(t *testing.T) {
	reporter := &ui.ChangeWriter{}
	v := seenWith(t, func(f *frame.Input) {
		f.Cluster.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-14*time.Minute))
	})
	lines := reporter.Changes(v)
	if len(lines) != 2 || lines[0] != v.Status.Summary || lines[1] != "storage-1: PodFailing for 14m" {
		t.Errorf("%q", lines)
	}
}

func TestEachEventIsPrintedOnce(t *testing.T) {
	reporter := &ui.ChangeWriter{}
	v := seenWith(t, nil)
	old := inspect.EventView{Time: noon.Add(-time.Minute), First: noon.Add(-time.Minute), Type: "Normal", Object: "pod/p", Reason: "Pulled", Count: 1}
	fresh := inspect.EventView{Time: noon.Add(time.Second), First: noon, Type: "Warning", Object: "pod/p", Reason: "BackOff", Message: "again", Count: 1}
	reporter.Changes(v)
	v.Events.Items = []inspect.EventView{old, fresh}
	if diff := cmp.Diff([]string{"event: warning pod/p: BackOff: again"}, reporter.Changes(v)); diff != "" {
		t.Error(diff)
	}
	if lines := reporter.Changes(v); len(lines) > 0 {
		t.Errorf("printed again: %q", lines)
	}
}

func TestExclusionProgressIsReportedExceptForSmallChanges(t *testing.T) {
	reporter, left := &ui.ChangeWriter{}, int64(1000)
	at := func(state inspect.Exclusion, bytes int64) []string {
		v := seenWith(t, nil)
		left = bytes
		v.Exclusions.Items = []inspect.DrainView{{ID: "storage-1", State: state, LeftBytes: &left}}
		return reporter.Changes(v)
	}
	at(inspect.ExclusionMoving, 1000)
	if lines := at(inspect.ExclusionMoving, 990); len(lines) > 0 {
		t.Errorf("a hundredth is no news: %q", lines)
	}
	if diff := cmp.Diff([]string{"storage-1: exclusion moving, 500B left"}, at(inspect.ExclusionMoving, 500)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"storage-1: exclusion safe"}, at(inspect.ExclusionSafe, 0)); diff != "" {
		t.Error(diff)
	}
}
