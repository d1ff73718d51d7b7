package safety

import (
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// TaintClock is the age of one taint key on a node, and the rules of the spec about it. Each
// key has its own age: a taint that a rule exempts never makes another one older.
type TaintClock struct {
	Key string
	// Since is since when the key is known to be on the node; zero where no pass has seen it.
	Since time.Time
	// Rules are for how long, in seconds, each rule allows the key; math.MaxInt64 means forever.
	Rules []int64
}

// TaintClocks are the clocks of all keys on a pod's node that a rule of the spec is about, in
// the order of the node. Detected is since when the process group has NodeTaintDetected; zero
// where it has not.
func TaintClocks(c *v1beta2.FoundationDBCluster, node *corev1.Node, pod *corev1.Pod, detected time.Time) []TaintClock {
	var clocks []TaintClock
	for _, taint := range node.Spec.Taints {
		known := slices.ContainsFunc(clocks, func(t TaintClock) bool { return t.Key == taint.Key })
		if rules := c.TaintDelays(taint.Key); !known && len(rules) > 0 {
			clocks = append(clocks, TaintClock{Key: taint.Key, Rules: rules})
		}
	}
	for i := range clocks {
		recorded := recordedSince(c, clocks[i].Key, pod, detected)
		clocks[i].Since = taintedSince(clocks[i].Key, node, recorded)
	}
	return clocks
}

// taintedSince is the earliest known time of the taints with a key: when the API server
// added one, or since when passes have seen one that has no such time.
func taintedSince(key string, node *corev1.Node, recorded time.Time) time.Time {
	var since time.Time
	for _, taint := range node.Spec.Taints {
		if taint.Key != key {
			continue
		}
		at := recorded
		if taint.TimeAdded != nil {
			at = taint.TimeAdded.Time
		}
		if since.IsZero() || (!at.IsZero() && at.Before(since)) {
			since = at
		}
	}
	return since
}

// recordedSince is since when passes have recorded a key. The condition is cleared when no taint
// with a rule is left, so no age is older than it. It alone counts where no pass has recorded
// the keys, as after the operator ran, and only while it can be about no other key and no
// other pod: a recreated pod may be on another node.
func recordedSince(c *v1beta2.FoundationDBCluster, key string, pod *corev1.Pod, detected time.Time) time.Time {
	if detected.IsZero() {
		return time.Time{}
	}
	seen, recorded := plan.TaintsSeen(pod)
	at, found := seen[key]
	switch {
	case !recorded && rulesAreOnlyAbout(c, key):
		return latestOf(detected, pod.CreationTimestamp.Time)
	case !found:
		return time.Time{}
	default:
		return latestOf(detected, time.Unix(at, 0).UTC())
	}
}

// rulesAreOnlyAbout reports whether no rule of the spec matches a taint with another key.
func rulesAreOnlyAbout(c *v1beta2.FoundationDBCluster, key string) bool {
	return !slices.ContainsFunc(c.Spec.AutomationOptions.Replacements.TaintReplacementOptions, func(rule v1beta2.TaintReplacementOption) bool {
		other := ptr.Deref(rule.Key, "")
		return other != "" && other != key && ptr.Deref(rule.DurationInSeconds, -1) >= 0
	})
}

func latestOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Outlasts reports whether the key has been on the node for longer than a rule allows.
func (t TaintClock) Outlasts(now time.Time) bool {
	if t.Since.IsZero() {
		return false
	}
	age := now.Unix() - t.Since.Unix()
	return slices.ContainsFunc(t.Rules, func(seconds int64) bool { return age > seconds })
}

// Due is when the first of the rules is over; ever is false where none ever is, or where that
// is unknown because no pass has seen the key.
func (t TaintClock) Due() (at time.Time, ever bool) {
	if t.Since.IsZero() || len(t.Rules) == 0 {
		return time.Time{}, false
	}
	return TaintRuleOver(t.Since, slices.Min(t.Rules))
}

// lastMoment is the last second that an RFC 3339 timestamp has: the end of the year 9999.
const lastMoment = 253402300799

// TaintRuleOver is when a rule of so many seconds is over for a taint. Ever is false for the
// largest number, which means never, and for what no timestamp can express.
func TaintRuleOver(since time.Time, seconds int64) (at time.Time, ever bool) {
	if seconds == math.MaxInt64 || seconds > lastMoment-since.Unix() {
		return time.Time{}, false
	}
	return time.Unix(since.Unix()+seconds, 0).UTC(), true
}

// TaintsDue is when the first of several clocks is due; ever is false where none is.
func TaintsDue(clocks []TaintClock) (first time.Time, ever bool) {
	for _, clock := range clocks {
		if at, due := clock.Due(); due && (!ever || at.Before(first)) {
			first, ever = at, true
		}
	}
	return first, ever
}

// ReplacedForTaint reports whether passes ever replace the process groups on a node with a taint of
// the key: a rule of the spec applies to it and ends, and automatic replacements are enabled.
func ReplacedForTaint(c *v1beta2.FoundationDBCluster, key string) bool {
	return c.ReplacementsEnabled() && c.MaxConcurrentAutomaticReplacements() > 0 &&
		slices.ContainsFunc(c.TaintDelays(key), func(seconds int64) bool { return seconds < math.MaxInt64 })
}
