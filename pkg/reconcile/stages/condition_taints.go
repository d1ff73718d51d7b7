package stages

import (
	"slices"
	"time"

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
		patience = append(patience, f.s.Cluster.TaintPatience(taint.Key)...)
	}
	return patience, true
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
	for _, taint := range f.s.Nodes[f.pod.Spec.NodeName].Spec.Taints {
		if taint.TimeAdded != nil && taint.TimeAdded.Time.Before(since) && len(f.s.Cluster.TaintPatience(taint.Key)) > 0 {
			since = taint.TimeAdded.Time
		}
	}
	return since
}
