package status

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// incorrectCommandLine: a process runs with other arguments, or in another version, than it
// would start with.
var incorrectCommandLine = condition{v1beta2.ConditionIncorrectCommandLine, func(f GroupFacts) (verdict, error) {
	if f.pod == nil || f.pod.DeletionTimestamp != nil {
		return cleared, nil
	}
	variables := f.S.PodFiles[f.pod.Name].Variables
	running := slices.Concat(f.processes, f.misnamed)
	if len(running) == 0 || variables == nil {
		return keep, nil
	}
	launch, err := objects.LaunchOf(f.pod, f.Group.ProcessClass)
	if err != nil {
		return keep, err
	}
	configuration, err := f.monitors.Of(f.S.Cluster, launch)
	if err != nil {
		return keep, err
	}
	for _, p := range running {
		want, err := objects.CommandLineFrom(configuration, launch, p.number, variables)
		if errors.Is(err, objects.ErrCommandLineTooLong) {
			return keep, fmt.Errorf("%s: %w: shorten the custom parameters", f.Group.ProcessGroupID, err)
		}
		if err != nil {
			return keep, nil // the pod has not reported all variables: the command line cannot be compared yet
		}
		if p.CommandLine != want || !f.rightVersion(*p.Process) {
			return holds, nil
		}
	}
	return cleared, nil
}}

// rightVersion always returns true during a patch upgrade: versions are mixed then.
func (f GroupFacts) rightVersion(p fdb.Process) bool {
	return f.versionsMixed || readings.Released(p) == f.S.Cluster.Spec.Version
}

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
