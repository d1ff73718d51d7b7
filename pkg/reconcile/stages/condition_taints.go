package stages

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// nodeTaintDetected: the pod's node has a taint that a rule of the spec is about.
var nodeTaintDetected = condition{v1beta2.ConditionNodeTaintDetected, func(f groupFacts) (verdict, error) {
	clocks, known := f.taintClocks()
	if !known {
		return keep, nil
	}
	return isSo(len(clocks) > 0), nil
}}

// nodeTaintReplacing: such a taint has been there for longer than its rule allows.
//
// The operator takes this back only when no taint of the node has a rule any more;
// here also when the rules came to allow the taint for longer. The operator counts all taints
// of a node from the one time of NodeTaintDetected; here each has an age of its own.
var nodeTaintReplacing = condition{v1beta2.ConditionNodeTaintReplacing, func(f groupFacts) (verdict, error) {
	clocks, known := f.taintClocks()
	if !known {
		return keep, nil
	}
	return isSo(slices.ContainsFunc(clocks, func(t safety.TaintClock) bool { return t.Outlasts(f.s.Now) })), nil
}}

// taintClocks are the ages of all taints of the pod's node that a rule is about. They are not
// known for a pod that has no node yet or is not running there, and for a node that cannot be
// read. Without rules in the spec nothing has to be read.
func (f groupFacts) taintClocks() (clocks []safety.TaintClock, known bool) {
	if len(f.s.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions) == 0 {
		return nil, true
	}
	if f.pod == nil || f.isPending() {
		return nil, false
	}
	node := f.s.Nodes[f.pod.Spec.NodeName]
	if node == nil {
		return nil, false
	}
	detected, _ := f.group.Condition(v1beta2.ConditionNodeTaintDetected)
	return safety.TaintClocks(f.s.Cluster, node, f.pod, detected), true
}

// taintedSince is since when the node has a taint that a rule is about: since it was
// first seen, or since Kubernetes says that it was added, whichever is earlier.
// Kubernetes notes that only for some taints.
func (f groupFacts) taintedSince() time.Time {
	since, seen := f.group.Condition(v1beta2.ConditionNodeTaintDetected)
	if !seen {
		since = f.s.Now
	}
	clocks, _ := f.taintClocks()
	for _, clock := range clocks {
		if !clock.Since.IsZero() && clock.Since.Before(since) {
			since = clock.Since
		}
	}
	return since
}
