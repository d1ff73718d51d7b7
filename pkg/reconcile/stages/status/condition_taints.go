package status

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// nodeTaintDetected: the pod's node has a taint that a rule of the spec matches.
var nodeTaintDetected = condition{v1beta2.ConditionNodeTaintDetected, func(f GroupFacts) (verdict, error) {
	clocks, known := f.taintClocks()
	if !known {
		return keep, nil
	}
	return verdictOf(len(clocks) > 0), nil
}}

// nodeTaintReplacing: such a taint has existed for longer than its rule allows.
//
// The operator clears this only when no taint of the node matches a rule any more; here also
// when the rules now allow the taint for longer. The operator counts all taints of a node from
// the time of NodeTaintDetected; here each taint has its own age.
var nodeTaintReplacing = condition{v1beta2.ConditionNodeTaintReplacing, func(f GroupFacts) (verdict, error) {
	clocks, known := f.taintClocks()
	if !known {
		return keep, nil
	}
	return verdictOf(slices.ContainsFunc(clocks, func(t safety.TaintClock) bool { return t.Outlasts(f.S.Now) })), nil
}}

// taintClocks returns the ages of all taints of the pod's node that a rule matches. They are
// unknown for a pod that has no node yet or does not run there, and for a node that cannot be
// read. Without rules in the spec nothing has to be read.
func (f GroupFacts) taintClocks() (clocks []safety.TaintClock, known bool) {
	if len(f.S.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions) == 0 {
		return nil, true
	}
	if f.pod == nil || f.isPending() {
		return nil, false
	}
	node := f.S.Nodes[f.pod.Spec.NodeName]
	if node == nil {
		return nil, false
	}
	detected, _ := f.Group.Condition(v1beta2.ConditionNodeTaintDetected)
	return safety.TaintClocks(f.S.Cluster, node, f.pod, detected), true
}

// taintedSince returns since when the node has a taint that a rule matches: since its first
// observation, or the time in the taint, whichever is earlier. Kubernetes records that time
// only for some taints.
func (f GroupFacts) taintedSince() time.Time {
	since, seen := f.Group.Condition(v1beta2.ConditionNodeTaintDetected)
	if !seen {
		since = f.S.Now
	}
	clocks, _ := f.taintClocks()
	for _, clock := range clocks {
		if !clock.Since.IsZero() && clock.Since.Before(since) {
			since = clock.Since
		}
	}
	return since
}
