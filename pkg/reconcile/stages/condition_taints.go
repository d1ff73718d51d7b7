package stages

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// nodeTaintDetected: the pod's node has a taint that a rule of the spec is about.
var nodeTaintDetected = condition{v1beta2.ConditionNodeTaintDetected, func(f groupFacts) (verdict, error) {
	patience, known := f.taintRules()
	if !known {
		return keep, nil
	}
	return isSo(len(patience) > 0), nil
}}

// nodeTaintReplacing: such a taint has been there for longer than its rule allows.
//
// The operator takes this back only when no taint of the node has a rule any more;
// here also when the rules came to allow the taint for longer.
var nodeTaintReplacing = condition{v1beta2.ConditionNodeTaintReplacing, func(f groupFacts) (verdict, error) {
	patience, known := f.taintRules()
	if !known {
		return keep, nil
	}
	age := f.s.Now.Unix() - f.taintedSince().Unix()
	return isSo(slices.ContainsFunc(patience, func(seconds int64) bool { return age > seconds })), nil
}}

// taintRules are the patience, in seconds, of all rules that are about a taint of the
// pod's node. It is not known for a pod that has no node yet or is not running there,
// and for a node that cannot be read. Without rules in the spec nothing has to be read.
func (f groupFacts) taintRules() (patience []int64, known bool) {
	rules := f.s.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions
	if len(rules) == 0 {
		return nil, true
	}
	if f.pod == nil || f.isPending() {
		return nil, false
	}
	node := f.s.Nodes[f.pod.Spec.NodeName]
	if node == nil {
		return nil, false
	}
	for _, taint := range node.Spec.Taints {
		patience = append(patience, patienceWith(taint, rules)...)
	}
	return patience, true
}

// anyTaint is the key of a rule about all taints that no other rule names.
const anyTaint = "*"

// patienceWith is the patience, in seconds, of the rules about a taint. A rule that
// names its key keeps the rule about all others away, even when it is switched off.
func patienceWith(taint corev1.Taint, rules []v1beta2.TaintReplacementOption) []int64 {
	applying := rulesFor(taint.Key, rules)
	if len(applying) == 0 {
		applying = rulesFor(anyTaint, rules)
	}
	var patience []int64
	for _, rule := range applying {
		if seconds := ptr.Deref(rule.DurationInSeconds, -1); seconds >= 0 { // else it is switched off
			patience = append(patience, seconds)
		}
	}
	return patience
}

func rulesFor(key string, rules []v1beta2.TaintReplacementOption) []v1beta2.TaintReplacementOption {
	var named []v1beta2.TaintReplacementOption
	for _, rule := range rules {
		if key != "" && ptr.Deref(rule.Key, "") == key {
			named = append(named, rule)
		}
	}
	return named
}

// taintedSince is since when the node has a taint that a rule is about: since it was
// first seen, or since Kubernetes says that it was added, whichever is earlier.
// Kubernetes notes that only for some taints.
func (f groupFacts) taintedSince() time.Time {
	since, seen := f.group.Condition(v1beta2.ConditionNodeTaintDetected)
	if !seen {
		since = f.s.Now
	}
	if f.pod == nil || f.s.Nodes[f.pod.Spec.NodeName] == nil {
		return since
	}
	rules := f.s.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions
	for _, taint := range f.s.Nodes[f.pod.Spec.NodeName].Spec.Taints {
		if taint.TimeAdded != nil && taint.TimeAdded.Time.Before(since) && len(patienceWith(taint, rules)) > 0 {
			since = taint.TimeAdded.Time
		}
	}
	return since
}
