package status

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// taintsKnown checks, for specs with rules about taints, whether the node of every pod could be read.
// Otherwise the conditions of the group stay unchanged: an unreadable node is neither clean nor
// tainted.
func taintsKnown(s plan.Snapshot) []plan.Check {
	if len(s.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions) == 0 {
		return nil
	}
	c := plan.Check{ID: plan.CheckTaintsKnown, Question: "are the taints of all nodes known?"}
	var unread []string
	for _, g := range s.Groups() {
		pod := s.Pod(g)
		if pod != nil && pod.Spec.NodeName != "" && s.Nodes[pod.Spec.NodeName] == nil {
			unread = append(unread, fmt.Sprintf("%s on %s", g.ProcessGroupID, pod.Spec.NodeName))
		}
	}
	switch {
	case s.NodesHidden != "":
		c.Evidence = s.NodesHidden + "; recorded taints stay unchanged"
	case len(unread) > 0:
		c.Evidence = fmt.Sprintf("node not found: %s; their recorded taints stay unchanged", readings.SomeOf(unread))
	default:
		c.OK, c.Evidence = true, phrase.Count(len(s.Nodes), "node")+" read"
	}
	return []plan.Check{c}
}

// recordTaints records on each pod since when its node has which taints: the status has one time for
// all of them. It changes nothing where the taints are unknown, and while conditions are not
// updated.
func recordTaints(s plan.Snapshot, status v1beta2.FoundationDBClusterStatus, d plan.Decision) plan.Decision {
	if s.Cluster.Status.Configured && !s.Database.Available() {
		return d
	}
	s.Cluster = s.Cluster.DeepCopy()
	s.Cluster.Status = status
	for _, g := range s.Groups() {
		f := GroupFacts{S: s, Group: g, pod: s.Pod(g)}
		if f.pod == nil || f.pod.DeletionTimestamp != nil || f.UnderMaintenance() {
			continue
		}
		clocks, known := f.taintClocks()
		if len(clocks) > 0 && !g.HasCondition(v1beta2.ConditionNodeTaintDetected) {
			continue // conditions of a drained group are not evaluated: nothing dates its taints
		}
		seen, recorded := plan.TaintsSeen(f.pod)
		if fresh := f.seen(clocks); known && (recorded != (len(fresh) > 0) || !maps.Equal(seen, fresh)) {
			d.Why = cmp.Or(d.Why, "the taints of nodes differ from the recorded ones")
			d.Actions = append(d.Actions, plan.RecordTaints{Pod: f.pod.Name, Seen: fresh})
		}
	}
	return d
}

// seen returns the keys of the present taints with the times since when they exist. A key without a
// time counts from now on.
func (f GroupFacts) seen(clocks []safety.TaintClock) map[string]int64 {
	seen := map[string]int64{}
	for _, clock := range clocks {
		if clock.Since.IsZero() {
			clock.Since = f.S.Now
		}
		seen[clock.Key] = clock.Since.Unix()
	}
	return seen
}
