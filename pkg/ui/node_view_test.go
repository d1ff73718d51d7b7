package ui

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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

// The second timer of a taint can be as long.
func TestAReplacementThatNeverComesShowsNoDate(t *testing.T) {
	for _, seconds := range []int{10_000_000_000, math.MaxInt} {
		f := tainted(t)
		f.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementTimeSeconds = &seconds
		f.Recorded.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Hour))
		v := f.node("node-1", f.groupsByNode()["node-1"], nil)
		if v.DetectAt == nil || v.ReplaceAt != nil {
			t.Errorf("%d s: detected at %v, replaced at %v; want a date and none", seconds, v.DetectAt, v.ReplaceAt)
		}
	}
}

// A rule of the largest number means never, and one of centuries means just that: neither may
// turn into a date that is near, or past.
func TestARuleThatNeverEndsShowsNoDate(t *testing.T) {
	tests := map[string]struct {
		seconds                int64
		rules, detect, replace string
		at                     string // the date in JSON; empty for null
		never                  bool
	}{
		"never":             {math.MaxInt64, "drain>never", "never", "never", "", true},
		"three centuries":   {10_000_000_000, "drain>10000000000s", "317y", "317y", "2343-", false},
		"beyond any date":   {1_000_000_000_000, "drain>never", "never", "never", "", true},
		"longer than 68 y":  {4_000_000_000, "drain>4000000000s", "126y", "126y", "2153-", false},
		"the next to never": {math.MaxInt64 - 1, "drain>never", "never", "never", "", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := tainted(t)
			f.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{{Key: new("drain"), DurationInSeconds: &tc.seconds}}
			f.Nodes["node-1"].Spec.Taints[0].Key = "drain"
			f.Recorded.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Hour))
			v := f.node("node-1", f.groupsByNode()["node-1"], nil)
			if diff := cmp.Diff([]string{"drain=soon:NoSchedule", tc.rules, "120m", tc.detect, tc.replace}, v.taintCells(ListOptions{Now: noon})); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				DetectAt, ReplaceAt string
				Never               bool
				MatchedRules        []struct {
					DetectAt string
					Never    bool
				}
			}
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			rule := got.MatchedRules[0]
			for what, at := range map[string]string{"detectAt": got.DetectAt, "replaceAt": got.ReplaceAt, "the rule's detectAt": rule.DetectAt} {
				if (at == "") != (tc.at == "") || !strings.HasPrefix(at, tc.at) {
					t.Errorf("%s is %q, want %q", what, at, tc.at)
				}
			}
			if got.Never != tc.never || rule.Never != tc.never {
				t.Errorf("never: %t, of the rule %t", got.Never, rule.Never)
			}
		})
	}
}

// The node view shows the ages that passes use: one for each key.
func TestTheNodeViewCountsEachTaintByItself(t *testing.T) {
	f := tainted(t)
	f.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions[0].DurationInSeconds = new(int64(math.MaxInt64))
	f.Nodes["node-1"].Spec.Taints = append(f.Nodes["node-1"].Spec.Taints, corev1.Taint{Key: "other", Effect: corev1.TaintEffectNoSchedule})
	f.Recorded.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Hour))
	pod := f.Pod(f.Cluster.ProcessGroup("storage-1"))
	record := func(seen map[string]int64) NodeView {
		for key, value := range (plan.RecordTaints{Pod: pod.Name, Seen: seen}).Patch().Annotations {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
		}
		return f.node("node-1", f.groupsByNode()["node-1"], nil)
	}
	exempt := noon.Add(-2 * time.Hour).Unix()
	if v := record(map[string]int64{"example.com/maintenance": exempt}); v.DetectAt != nil || v.Never || v.Note == "" {
		t.Errorf("a key that no pass has seen is due at %v, never %t, note %q", v.DetectAt, v.Never, v.Note)
	}
	v := record(map[string]int64{"example.com/maintenance": exempt, "other": noon.Unix()})
	if v.DetectAt == nil || !v.DetectAt.Equal(noon.Add(time.Hour)) || v.Never || v.Note != "" {
		t.Errorf("a key that was seen now is due at %v, never %t, note %q", v.DetectAt, v.Never, v.Note)
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
