package targets

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// EmptiedNodes returns the progress of nodes that are being drained of the cluster's pods.
func EmptiedNodes(f inspect.Facts, nodes []string) []inspect.Target {
	targets := make([]inspect.Target, len(nodes))
	for i, node := range nodes {
		var left []string
		for name, pod := range f.Pods {
			if pod.Spec.NodeName == node {
				left = append(left, name)
			}
		}
		slices.Sort(left)
		targets[i] = inspect.Target{ID: node, Phase: "empty", Reached: true}
		if len(left) > 0 {
			targets[i] = inspect.Target{ID: node, Phase: phaseDraining, Note: phrase.Count(len(left), "pod") + " left: " + phrase.List(left)}
		}
	}
	return targets
}

// The phases of nodes that are being made schedulable again.
const (
	NodeOpen     = "open"
	NodeCordoned = "cordoned"
	NodeTainted  = "tainted"
	NodeUnknown  = "unknown"
)

// OpenNodes returns the progress of nodes that are being made schedulable again. A node is not
// open while it has a taint that causes replacements.
func OpenNodes(f inspect.Facts, nodes []string) []inspect.Target {
	on := f.GroupsByNode()
	targets := make([]inspect.Target, len(nodes))
	for i, name := range nodes {
		targets[i] = openNode(f, name, on[name])
	}
	return targets
}

func openNode(f inspect.Facts, name string, groups []*v1beta2.ProcessGroupStatus) inspect.Target {
	node := f.Nodes[name]
	switch {
	case node == nil:
		return inspect.Target{ID: name, Phase: NodeUnknown, Note: "the node does not exist or cannot be read"}
	case node.Spec.Unschedulable:
		return inspect.Target{ID: name, Phase: NodeCordoned, Note: "the node is cordoned"}
	}
	v := f.Node(name, groups, nil)
	replaces := slices.ContainsFunc(v.MatchedRules, func(r inspect.TaintRuleView) bool { return !r.Never }) && f.Cluster.ReplacementsEnabled()
	taints := repelling(node)
	switch {
	case replaces:
		return inspect.Target{ID: name, Phase: NodeTainted, Note: stillTainted(v)}
	case len(taints) > 0:
		return inspect.Target{ID: name, Phase: NodeOpen, Reached: true, Note: "only pods that tolerate its taints are scheduled: " + strings.Join(taints, ", ")}
	default:
		return inspect.Target{ID: name, Phase: NodeOpen, Reached: true}
	}
}

// repelling returns the taints of a node that only pods with a toleration may ignore.
func repelling(node *corev1.Node) (taints []string) {
	for _, taint := range node.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule {
			taints = append(taints, taint.ToString())
		}
	}
	return taints
}

// stillTainted returns what happens to the process groups on a node whose taints cause replacements.
func stillTainted(v inspect.NodeView) string {
	taints := "it still has the taint " + strings.Join(v.Taints, ", ")
	switch {
	case len(v.ProcessGroups) == 0:
		return taints + ", which causes replacements; no process group is on it"
	case v.ReplaceAt != nil:
		return fmt.Sprintf("%s: replaced from %s: %s", taints, lists.Moment(v.ReplaceAt), strings.Join(v.ProcessGroups, ", "))
	default:
		return fmt.Sprintf("%s: replaced once its rule expires, counted from the next pass: %s", taints, strings.Join(v.ProcessGroups, ", "))
	}
}
