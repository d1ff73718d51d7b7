package inspect

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
)

// evicted is the healthy cluster without the pod of storage-1, which ran on node-1.
func evicted(t *testing.T) Facts {
	t.Helper()
	f := of(inspecttest.Tainted(t))
	for name := range f.Nodes {
		f.Nodes[name].Spec.Taints = nil
	}
	inspecttest.Unresponsiveness(f.Snapshot, "storage-1", time.Minute)
	g := f.Cluster.ProcessGroup("storage-1")
	g.FaultDomain = "node-1"
	delete(f.Pods, g.PodName(f.Cluster))
	return f
}

func TestTheProblemOfAMissingPodNamesItsNodeAndTheTaint(t *testing.T) {
	down := corev1.Taint{Key: "example.com/down", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: noon.Add(-time.Minute)}}
	tests := map[string]struct {
		given   func(*Facts)
		problem string
		// status is in the reasons of the status.
		status string
	}{
		"a taint evicted it": {
			given:   func(f *Facts) { f.Nodes["node-1"].Spec.Taints = []corev1.Taint{down} },
			problem: "its pod does not exist; it ran on node node-1, which has the taint example.com/down:NoExecute that evicts its pods",
			status:  "node node-1 has the taint example.com/down:NoExecute that evicts its pods 60s (storage-1)",
		},
		"zones are labels of nodes": {
			given: func(f *Facts) {
				f.Cluster.Spec.FaultDomain = v1beta2.FoundationDBClusterFaultDomain{Key: "example.com/zone", ValueFrom: "$ZONE"}
				f.Cluster.ProcessGroup("storage-1").FaultDomain = "a"
				for _, name := range []string{"node-1", "node-2"} {
					f.Nodes[name].Labels = map[string]string{"example.com/zone": "a"}
				}
				f.Nodes["node-2"].Spec.Taints = []corev1.Taint{down}
			},
			problem: "its pod does not exist; it ran on node node-2, which has the taint example.com/down:NoExecute that evicts its pods",
			status:  "node node-2 has the taint example.com/down:NoExecute that evicts its pods 60s (storage-1)",
		},
		"its pods tolerate the taint": {
			given: func(f *Facts) {
				f.Nodes["node-1"].Spec.Taints = []corev1.Taint{down}
				f.tolerate(corev1.Toleration{Operator: corev1.TolerationOpExists})
			},
			problem: "its pod does not exist; it ran on node node-1",
			status:  "1 storage group missing, first seen 60s ago (storage-1)",
		},
		"its pods tolerate the taint for a minute": {
			given: func(f *Facts) {
				f.Nodes["node-1"].Spec.Taints = []corev1.Taint{down}
				f.tolerate(corev1.Toleration{Operator: corev1.TolerationOpExists, TolerationSeconds: new(int64(60))})
			},
			problem: "its pod does not exist; it ran on node node-1, which has the taint example.com/down:NoExecute that evicts its pods",
			status:  "node node-1 has the taint example.com/down:NoExecute that evicts its pods 60s (storage-1)",
		},
		"its node was deleted": {
			given:   func(f *Facts) { f.Nodes["node-1"] = nil },
			problem: "its pod does not exist; it ran on node node-1, which no longer exists",
			status:  "node node-1 no longer exists (storage-1)",
		},
		"its node is not ready": {
			given:   func(f *Facts) { f.Nodes["node-1"].Status.Conditions[0].Status = corev1.ConditionUnknown },
			problem: "its pod does not exist; it ran on node node-1, which is not ready",
			status:  "node node-1 is not ready (storage-1)",
		},
		"its node is cordoned": {
			given:   func(f *Facts) { f.Nodes["node-1"].Spec.Unschedulable = true },
			problem: "its pod does not exist; it ran on node node-1, which is cordoned",
			status:  "1 storage group missing, first seen 60s ago (storage-1)",
		},
		"nodes were not read": {
			given:   func(f *Facts) { f.Nodes = nil },
			problem: "its pod does not exist",
			status:  "1 storage group missing, first seen 60s ago (storage-1)",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := evicted(t)
			tc.given(&f)
			if diff := cmp.Diff(tc.problem, f.ProblemOf(f.Cluster.ProcessGroup("storage-1")).Text()); diff != "" {
				t.Error(diff)
			}
			if got := strings.Join(f.LossReasons(), "; "); got != tc.status {
				t.Errorf("status has %q, want %q", got, tc.status)
			}
		})
	}
}

// tolerate adds a toleration to the pod template of all classes.
func (f *Facts) tolerate(t corev1.Toleration) {
	f.Cluster.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
		v1beta2.ProcessClassGeneral: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{t}}}},
	}
}

func TestNodesListTheOnesThatExplainMissingAndPendingPods(t *testing.T) {
	empty := func(f Facts, name string) *corev1.Node {
		f.Nodes[name] = f.Nodes["node-2"].DeepCopy()
		f.Nodes[name].Name = name
		return f.Nodes[name]
	}
	pending := func(f Facts) *corev1.Pod {
		pod := f.Pod(f.Cluster.ProcessGroup("storage-2"))
		pod.Spec.NodeName = ""
		return pod
	}
	tests := map[string]struct {
		given func(Facts)
		// want are the nodes that only this list has.
		want []string
	}{
		"all pods run": {given: func(f Facts) { empty(f, "other").Spec.Unschedulable = true }},
		"a missing pod ran there": {
			given: func(f Facts) {
				empty(f, "other")
				f.Cluster.ProcessGroup("storage-1").FaultDomain = "other"
				delete(f.Pods, "sample-storage-1")
			},
			want: []string{"other"},
		},
		"a pod is pending, and a node is cordoned": {
			given: func(f Facts) {
				empty(f, "free")
				empty(f, "other").Spec.Unschedulable = true
				pending(f)
			},
			want: []string{"other"},
		},
		"a pod is pending, and a node is tainted against it": {
			given: func(f Facts) {
				empty(f, "other").Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
				pending(f)
			},
			want: []string{"other"},
		},
		"a pod is pending that does not select the cordoned node": {
			given: func(f Facts) {
				empty(f, "other").Spec.Unschedulable = true
				pending(f).Spec.NodeSelector = map[string]string{"disk": "ssd"}
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := of(inspecttest.Tainted(t))
			before := NewNodeListView(meta, f)
			tc.given(f)
			var got []string
			for _, n := range NewNodeListView(meta, f).Items {
				if n.Name == "other" || n.Name == "free" {
					got = append(got, n.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(before.Items) == 0 {
				t.Error(diff)
			}
		})
	}
}

// For about a minute the database counts a storage process that died. Later its numbers are right, and they
// are full again once the data is replicated without the process.
func TestTheToleranceIsLoweredOnlyUntilTheDatabaseNoticesALoss(t *testing.T) {
	for name, tc := range map[string]struct {
		since    time.Duration
		reported int
		want     int
	}{
		"not noticed yet":                      {since: time.Minute, reported: 1, want: 0},
		"noticed, and data has to be copied":   {since: 3 * time.Minute, reported: 0, want: 0},
		"noticed, and all data has its copies": {since: 3 * time.Minute, reported: 1, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := of(inspecttest.Healthy(t))
			inspecttest.Unresponsiveness(f.Snapshot, "storage-3", tc.since)
			f.Database.Status.Cluster.FaultTolerance.WithoutLosingData = &tc.reported
			v := f.Tolerance()
			if v.Zones == nil || *v.Zones != tc.want || len(v.ZonesNotReporting) != 1 {
				t.Errorf("%+v", v)
			}
		})
	}
}
