package ui

import (
	"bytes"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// tainted is the healthy cluster; the node of storage-1 has a taint that its spec allows
// for five minutes.
func tainted(t *testing.T) Facts {
	t.Helper()
	f := healthy(t)
	f.Recorded = f.Cluster.DeepCopy()
	f.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{
		{Key: new("example.com/maintenance"), DurationInSeconds: new(int64(300))},
		{Key: new("*"), DurationInSeconds: new(int64(3600))},
	}
	f.Nodes = map[string]*corev1.Node{}
	for _, pod := range f.Pods {
		f.Nodes[pod.Spec.NodeName] = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}
	}
	f.Nodes["node-1"].Spec.Taints = []corev1.Taint{{Key: "example.com/maintenance", Value: "soon", Effect: corev1.TaintEffectNoSchedule}}
	return f
}

func TestTimersOfATaintedNode(t *testing.T) {
	const minute = 60
	note := func(f Facts, c v1beta2.ProcessGroupConditionType, ago time.Duration) {
		f.Recorded.ProcessGroup("storage-1").SetCondition(c, noon.Add(-ago))
	}
	tests := map[string]struct {
		given func(Facts)
		// seconds from now; nil for unknown
		tainted, detect, replace *int
		rules                    int
		note                     bool
	}{
		"nobody has noted it yet": {given: func(Facts) {}, rules: 1, note: true},
		"noted by a pass two minutes ago": {
			given:   func(f Facts) { note(f, v1beta2.ConditionNodeTaintDetected, 2*time.Minute) },
			tainted: new(-2 * minute), detect: new(3 * minute), replace: new(33 * minute), rules: 1,
		},
		"Kubernetes knows since when": {
			given: func(f Facts) {
				f.Nodes["node-1"].Spec.Taints[0].TimeAdded = &metav1.Time{Time: noon.Add(-4 * time.Minute)}
				note(f, v1beta2.ConditionNodeTaintDetected, 2*time.Minute)
			},
			tainted: new(-4 * minute), detect: new(minute), replace: new(31 * minute), rules: 1,
		},
		"the rule is over, and a pass has noted that": {
			given: func(f Facts) {
				note(f, v1beta2.ConditionNodeTaintDetected, 20*time.Minute)
				note(f, v1beta2.ConditionNodeTaintReplacing, 10*time.Minute)
			},
			tainted: new(-20 * minute), detect: new(-15 * minute), replace: new(20 * minute), rules: 1,
		},
		"a taint that only the rule about all others is about": {
			given: func(f Facts) {
				f.Nodes["node-1"].Spec.Taints[0].Key = "other"
				note(f, v1beta2.ConditionNodeTaintDetected, 20*time.Minute)
			},
			tainted: new(-20 * minute), detect: new(40 * minute), replace: new(70 * minute), rules: 1,
		},
		"no rule is about it": {given: func(f Facts) {
			f.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions = nil
		}},
		"replacements are switched off": {
			given: func(f Facts) {
				f.Cluster.Spec.AutomationOptions.Replacements.Enabled = new(false)
				note(f, v1beta2.ConditionNodeTaintDetected, 2*time.Minute)
			},
			tainted: new(-2 * minute), detect: new(3 * minute), rules: 1, note: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := tainted(t)
			tc.given(f)
			v := f.node("node-1", f.groupsByNode()["node-1"], nil)
			got := []*int{fromNoon(v.TaintedSince), fromNoon(v.DetectAt), fromNoon(v.ReplaceAt)}
			if diff := cmp.Diff([]*int{tc.tainted, tc.detect, tc.replace}, got); diff != "" {
				t.Errorf("tainted, detect, replace (-want +got):\n%s", diff)
			}
			if len(v.MatchedRules) != tc.rules || (v.Note != "") != tc.note {
				t.Errorf("rules %v, note %q", v.MatchedRules, v.Note)
			}
		})
	}
}

func fromNoon(at *time.Time) *int {
	if at == nil {
		return nil
	}
	n := int(at.Sub(noon).Seconds())
	return &n
}

func TestNodeTable(t *testing.T) {
	noted := tainted(t)
	noted.Recorded.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Minute))
	delete(noted.Nodes, "node-2")
	noted.Nodes["node-3"].Spec.Unschedulable = true
	noted.Nodes["node-3"].Status.Conditions[0].Status = corev1.ConditionUnknown
	hidden := tainted(t)
	hidden.Nodes, hidden.NodesHidden = nil, "listing nodes is forbidden"
	for name, f := range map[string]Facts{"noted": noted, "not noted": tainted(t), "hidden": hidden} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := WriteNodes(&b, NewNodeListView(meta, f, false), ListOptions{Now: noon}); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}
