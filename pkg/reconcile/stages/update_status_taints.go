package stages

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// taintsKnown asks, for specs with rules about taints, whether the node of every pod
// could be read. A group whose node could not keeps what the record says of taints:
// a node that nobody can see is neither clean nor tainted.
func taintsKnown(s plan.Snapshot) []plan.Check {
	if len(s.Cluster.Spec.AutomationOptions.Replacements.TaintReplacementOptions) == 0 {
		return nil
	}
	c := plan.Check{Question: "are the taints of all nodes known?"}
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
		c.OK, c.Evidence = true, fmt.Sprintf("%d nodes were read", len(s.Nodes))
	}
	return []plan.Check{c}
}
