package safety

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// withTaintRules is a cluster with a rule of one minute for each of the keys.
func withTaintRules(keys ...string) *v1beta2.FoundationDBCluster {
	c := &v1beta2.FoundationDBCluster{}
	for _, key := range keys {
		c.Spec.AutomationOptions.Replacements.TaintReplacementOptions = append(c.Spec.AutomationOptions.Replacements.TaintReplacementOptions,
			v1beta2.TaintReplacementOption{Key: new(key), DurationInSeconds: new(int64(60))})
	}
	return c
}

// TestTheAgeOfATaintKey gives, per key with a rule, since when it is on the node. The zero time
// is an unknown age.
func TestTheAgeOfATaintKey(t *testing.T) {
	begin := time.Unix(1_700_000_000, 0).UTC()
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	taint := func(key string, effect corev1.TaintEffect, added ...int) corev1.Taint {
		taint := corev1.Taint{Key: key, Effect: effect}
		if len(added) > 0 {
			taint.TimeAdded = new(metav1.NewTime(at(added[0])))
		}
		return taint
	}
	recorded := func(key string, seconds int) string { return fmt.Sprintf(`{%q: %d}`, key, at(seconds).Unix()) }
	tests := map[string]struct {
		rules    []string // the keys that have one; repair and drain where empty
		taints   []corev1.Taint
		created  time.Time // the pod
		record   string    // of an earlier pass; none where empty
		detected time.Time
		want     map[string]time.Time
	}{
		"a taint with its own time": {
			taints: []corev1.Taint{taint("repair", "NoSchedule", 5)}, want: map[string]time.Time{"repair": at(5)},
		},
		"a taint without a rule": {
			taints: []corev1.Taint{taint("other", "NoSchedule", 5)}, want: map[string]time.Time{},
		},
		"another taint comes first": {
			taints: []corev1.Taint{taint("other", "NoSchedule", 1), taint("repair", "NoSchedule", 5)}, want: map[string]time.Time{"repair": at(5)},
		},
		"the earliest of two taints with a key": {
			taints: []corev1.Taint{taint("repair", "NoSchedule", 9), taint("repair", "NoExecute", 5)}, want: map[string]time.Time{"repair": at(5)},
		},
		"the earliest comes first": {
			taints: []corev1.Taint{taint("repair", "NoSchedule", 5), taint("repair", "NoExecute", 9)}, want: map[string]time.Time{"repair": at(5)},
		},
		"the second of two taints has no time": {
			taints: []corev1.Taint{taint("repair", "NoSchedule", 5), taint("repair", "NoExecute")}, want: map[string]time.Time{"repair": at(5)},
		},
		"the first of two taints has no time": {
			taints: []corev1.Taint{taint("repair", "NoSchedule"), taint("repair", "NoExecute", 5)}, want: map[string]time.Time{"repair": at(5)},
		},
		"no pass has detected a taint": {
			taints: []corev1.Taint{taint("repair", "NoSchedule")}, record: recorded("repair", 7), want: map[string]time.Time{"repair": {}},
		},
		"a pass has recorded the key": {
			taints: []corev1.Taint{taint("repair", "NoSchedule")}, record: recorded("repair", 7), detected: at(3), want: map[string]time.Time{"repair": at(7)},
		},
		"a record as old as the condition": {
			taints: []corev1.Taint{taint("repair", "NoSchedule")}, record: recorded("repair", 3), detected: at(3), want: map[string]time.Time{"repair": at(3)},
		},
		"a record that is older than the condition": {
			taints: []corev1.Taint{taint("repair", "NoSchedule")}, record: recorded("repair", 1), detected: at(3), want: map[string]time.Time{"repair": at(3)},
		},
		"a record of another key only": {
			taints: []corev1.Taint{taint("repair", "NoSchedule")}, record: recorded("drain", 7), detected: at(3), want: map[string]time.Time{"repair": {}},
		},
		"an unreadable record": {
			taints: []corev1.Taint{taint("repair", "NoSchedule")}, record: "?", detected: at(3), want: map[string]time.Time{"repair": {}},
		},
		"a condition without a record, and rules about one key": {
			rules: []string{"repair"}, taints: []corev1.Taint{taint("repair", "NoSchedule")}, detected: at(3), want: map[string]time.Time{"repair": at(3)},
		},
		"a condition without a record, and one key with two effects": {
			rules: []string{"repair"}, taints: []corev1.Taint{taint("repair", "NoSchedule"), taint("repair", "NoExecute")}, detected: at(3), want: map[string]time.Time{"repair": at(3)},
		},
		"a condition without a record that began before the pod was created": {
			rules: []string{"repair"}, taints: []corev1.Taint{taint("repair", "NoSchedule")}, created: at(5), detected: at(3), want: map[string]time.Time{"repair": at(5)},
		},
		"a condition without a record that may be about a key that was removed": {
			taints: []corev1.Taint{taint("repair", "NoSchedule")}, detected: at(3), want: map[string]time.Time{"repair": {}},
		},
		"a condition without a record, and a rule about all keys": {
			rules: []string{"*"}, taints: []corev1.Taint{taint("repair", "NoSchedule")}, detected: at(3), want: map[string]time.Time{"repair": {}},
		},
		"a condition without a record, and two keys": {
			taints: []corev1.Taint{taint("repair", "NoSchedule"), taint("drain", "NoSchedule")}, detected: at(3), want: map[string]time.Time{"repair": {}, "drain": {}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			node, pod := &corev1.Node{Spec: corev1.NodeSpec{Taints: tc.taints}}, &corev1.Pod{}
			pod.CreationTimestamp = metav1.NewTime(tc.created)
			if len(tc.rules) == 0 {
				tc.rules = []string{"repair", "drain"}
			}
			if tc.record != "" {
				pod.Annotations = map[string]string{plan.AnnotationTaintsSeen: tc.record}
			}
			clocks, got := TaintClocks(withTaintRules(tc.rules...), node, pod, tc.detected), map[string]time.Time{}
			for _, clock := range clocks {
				got[clock.Key] = clock.Since
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(clocks) != len(got) {
				t.Errorf("%d clocks (-want +got):\n%s", len(clocks), diff)
			}
		})
	}
}

func TestATaintOutlastsARuleOnlyIfItIsOlder(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	tests := map[string]struct {
		age   int64 // in seconds; unknown where negative
		rules []int64
		want  bool
	}{
		"younger than the rule":    {59, []int64{60}, false},
		"as old as the rule":       {60, []int64{60}, false},
		"older than the rule":      {61, []int64{60}, true},
		"older than one of two":    {61, []int64{600, 60}, true},
		"of an unknown age":        {-1, []int64{0}, false},
		"without a rule":           {61, nil, false},
		"a rule that never passes": {61, []int64{math.MaxInt64}, false},
	}
	for name, tc := range tests {
		clock := TaintClock{Rules: tc.rules}
		if tc.age >= 0 {
			clock.Since = now.Add(-time.Duration(tc.age) * time.Second)
		}
		if got := clock.Outlasts(now); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

func TestTheDueTimeOfATaintRule(t *testing.T) {
	since := time.Unix(1_700_000_000, 0).UTC()
	last := time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	toTheLast := last.Unix() - since.Unix()
	tests := map[string]struct {
		clock TaintClock
		want  time.Time // zero for never
	}{
		"the shortest rule counts":              {TaintClock{Since: since, Rules: []int64{90, 60}}, since.Add(time.Minute)},
		"the largest number is never":           {TaintClock{Since: since, Rules: []int64{math.MaxInt64}}, time.Time{}},
		"the last second of a timestamp":        {TaintClock{Since: since, Rules: []int64{toTheLast}}, last},
		"a second more than a timestamp has":    {TaintClock{Since: since, Rules: []int64{toTheLast + 1}}, time.Time{}},
		"an unknown age":                        {TaintClock{Rules: []int64{60}}, time.Time{}},
		"no rule":                               {TaintClock{Since: since}, time.Time{}},
		"the largest number before the epoch":   {TaintClock{Since: time.Unix(-1, 0), Rules: []int64{math.MaxInt64}}, time.Time{}},
		"the largest number since long ago":     {TaintClock{Since: time.Unix(lastMoment-math.MaxInt64+1, 0), Rules: []int64{math.MaxInt64}}, time.Time{}},
		"a rule of no time is over immediately": {TaintClock{Since: since, Rules: []int64{0}}, since},
	}
	for name, tc := range tests {
		at, ever := tc.clock.Due()
		if !at.Equal(tc.want) || ever == tc.want.IsZero() {
			t.Errorf("%s: %s, %t; want %s", name, at, ever, tc.want)
		}
	}
}

func TestTaintsDueReturnsTheEarliestClock(t *testing.T) {
	since := time.Unix(1_700_000_000, 0).UTC()
	clock := func(seconds int64) TaintClock { return TaintClock{Since: since, Rules: []int64{seconds}} }
	never := clock(math.MaxInt64)
	tests := map[string]struct {
		clocks []TaintClock
		want   time.Duration
		ever   bool
	}{
		"none":                     {},
		"only one that never ends": {clocks: []TaintClock{never}},
		"one that never ends last": {[]TaintClock{clock(60), never}, time.Minute, true},
		"the first is due first":   {[]TaintClock{clock(30), clock(60)}, 30 * time.Second, true},
		"the last is due first":    {[]TaintClock{never, clock(60), clock(30)}, 30 * time.Second, true},
	}
	for name, tc := range tests {
		if got, ever := TaintsDue(tc.clocks); ever != tc.ever || (ever && got.Sub(since) != tc.want) {
			t.Errorf("%s: after %s, %t; want %s, %t", name, got.Sub(since), ever, tc.want, tc.ever)
		}
	}
}
