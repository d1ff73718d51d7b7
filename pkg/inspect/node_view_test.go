package inspect

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestTimersOfATaintedNode(t *testing.T) {
	const minute = 60
	note := func(f Facts, c v1beta2.ProcessGroupConditionType, ago time.Duration) {
		f.Recorded.ProcessGroup("storage-1").SetCondition(c, noon.Add(-ago))
		if c == v1beta2.ConditionNodeTaintDetected {
			inspecttest.RecordTaint(f.Pod(f.Cluster.ProcessGroup("storage-1")), f.Nodes["node-1"].Spec.Taints[0].Key, noon.Add(-ago))
		}
	}
	tests := map[string]struct {
		given func(Facts)
		// seconds from now; nil for unknown
		tainted, detect, replace *int
		rules                    int
		note                     bool
	}{
		"not recorded yet": {given: func(Facts) {}, rules: 1, note: true},
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
			f := of(inspecttest.Tainted(t))
			tc.given(f)
			v := f.Node("node-1", f.GroupsByNode()["node-1"], nil)
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
func TestATooLargeTaintReplacementTimeShowsNoReplacementDate(t *testing.T) {
	for _, seconds := range []int{10_000_000_000, math.MaxInt} {
		f := of(inspecttest.Tainted(t))
		f.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementTimeSeconds = &seconds
		f.Recorded.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Hour))
		inspecttest.RecordTaint(f.Pod(f.Cluster.ProcessGroup("storage-1")), "example.com/maintenance", noon.Add(-2*time.Hour))
		v := f.Node("node-1", f.GroupsByNode()["node-1"], nil)
		if v.DetectAt == nil || v.ReplaceAt != nil {
			t.Errorf("%d s: detected at %v, replaced at %v; want a date and none", seconds, v.DetectAt, v.ReplaceAt)
		}
	}
}

// The node view shows the ages that passes use: one for each key.
func TestTheNodeViewShowsTheAgeOfEachTaintKey(t *testing.T) {
	f := of(inspecttest.Tainted(t))
	f.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions[0].DurationInSeconds = new(int64(math.MaxInt64))
	f.Nodes["node-1"].Spec.Taints = append(f.Nodes["node-1"].Spec.Taints, corev1.Taint{Key: "other", Effect: corev1.TaintEffectNoSchedule})
	f.Recorded.ProcessGroup("storage-1").SetCondition(v1beta2.ConditionNodeTaintDetected, noon.Add(-2*time.Hour))
	pod := f.Pod(f.Cluster.ProcessGroup("storage-1"))
	record := func(seen map[string]int64) NodeView {
		for key, value := range (plan.RecordTaints{Pod: pod.Name, Seen: seen}).Patch().Annotations {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
		}
		return f.Node("node-1", f.GroupsByNode()["node-1"], nil)
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
