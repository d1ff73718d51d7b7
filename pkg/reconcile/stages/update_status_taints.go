package stages

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// taintsKnown asks, for specs with rules about taints, whether the node of every pod
// could be read. A group whose node could not keeps what the record says of taints:
// a node that nobody can see is neither clean nor tainted.
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
		c.Evidence = s.NodesHidden + "; what is recorded of taints stays as it is"
	case len(unread) > 0:
		c.Evidence = fmt.Sprintf("there is no such node: %s; what is recorded of their taints stays as it is", someOf(unread))
	default:
		c.OK, c.Evidence = true, phrase.Count(len(s.Nodes), "node")+" read"
	}
	return []plan.Check{c}
}

// recordTaints records on each pod since when its node has which taints: the status has one
// time for all of them. It stays as it was where the taints are not known, and while nothing is
// judged.
func recordTaints(s plan.Snapshot, status v1beta2.FoundationDBClusterStatus, d plan.Decision) plan.Decision {
	if s.Cluster.Status.Configured && !s.Database.Available() {
		return d
	}
	s.Cluster = s.Cluster.DeepCopy()
	s.Cluster.Status = status
	for _, g := range s.Groups() {
		f := groupFacts{s: s, group: g, pod: s.Pod(g)}
		if f.pod == nil || f.pod.DeletionTimestamp != nil || f.underMaintenance() {
			continue
		}
		clocks, known := f.taintClocks()
		seen, recorded := plan.TaintsSeen(f.pod)
		if fresh := f.seen(clocks); known && (recorded != (len(fresh) > 0) || !maps.Equal(seen, fresh)) {
			d.Why = cmp.Or(d.Why, "the taints of nodes differ from what was recorded")
			d.Actions = append(d.Actions, plan.RecordTaints{Pod: f.pod.Name, Seen: fresh})
		}
	}
	return d
}

// seen are the keys of the taints that are there now. A key that no pass has seen before counts
// from now on.
func (f groupFacts) seen(clocks []safety.TaintClock) map[string]int64 {
	seen := map[string]int64{}
	for _, clock := range clocks {
		if clock.Since.IsZero() {
			clock.Since = f.s.Now
		}
		seen[clock.Key] = clock.Since.Unix()
	}
	return seen
}
