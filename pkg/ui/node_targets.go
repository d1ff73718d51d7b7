package ui

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// EmptiedNodes are nodes that pods of the cluster are to leave, as far as each is.
func EmptiedNodes(f Facts, nodes []string) []Target {
	targets := make([]Target, len(nodes))
	for i, node := range nodes {
		var left []string
		for name, pod := range f.Pods {
			if pod.Spec.NodeName == node {
				left = append(left, name)
			}
		}
		slices.Sort(left)
		targets[i] = Target{ID: node, Phase: "empty", Reached: true}
		if len(left) > 0 {
			targets[i] = Target{ID: node, Phase: "leaving", Note: phrase.Count(len(left), "pod") + " left: " + phrase.List(left)}
		}
	}
	return targets
}

// The phases of nodes that new pods may come to again.
const (
	NodeOpen     = "open"
	NodeCordoned = "cordoned"
	NodeTainted  = "tainted"
	NodeUnknown  = "unknown"
)

// OpenNodes are nodes that new pods may come to, as far as each is. One with a taint that has
// process groups replaced is not.
func OpenNodes(f Facts, nodes []string) []Target {
	on := f.groupsByNode()
	targets := make([]Target, len(nodes))
	for i, name := range nodes {
		targets[i] = f.openNode(name, on[name])
	}
	return targets
}

func (f Facts) openNode(name string, groups []*v1beta2.ProcessGroupStatus) Target {
	node := f.Nodes[name]
	switch {
	case node == nil:
		return Target{ID: name, Phase: NodeUnknown, Note: "the node is not there, or may not be read"}
	case node.Spec.Unschedulable:
		return Target{ID: name, Phase: NodeCordoned, Note: "the node is cordoned"}
	}
	v := f.node(name, groups, nil)
	replaces := slices.ContainsFunc(v.MatchedRules, func(r TaintRuleView) bool { return !r.Never }) && f.Cluster.ReplacementsEnabled()
	taints := repelling(node)
	switch {
	case replaces:
		return Target{ID: name, Phase: NodeTainted, Note: v.stillTainted()}
	case len(taints) > 0:
		return Target{ID: name, Phase: NodeOpen, Reached: true, Note: "only pods that tolerate its taints may come: " + strings.Join(taints, ", ")}
	default:
		return Target{ID: name, Phase: NodeOpen, Reached: true}
	}
}

// repelling are the taints of a node that keep pods away which do not tolerate them.
func repelling(node *corev1.Node) (taints []string) {
	for _, taint := range node.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule {
			taints = append(taints, taint.ToString())
		}
	}
	return taints
}

// stillTainted is what becomes of the process groups on a node whose taints have them replaced.
func (v NodeView) stillTainted() string {
	taints := "it still has the taint " + strings.Join(v.Taints, ", ")
	switch {
	case len(v.ProcessGroups) == 0:
		return taints + ", which has process groups replaced; none is there"
	case v.ReplaceAt != nil:
		return fmt.Sprintf("%s: replaced from %s on: %s", taints, moment(v.ReplaceAt), strings.Join(v.ProcessGroups, ", "))
	default:
		return fmt.Sprintf("%s: replaced once its rule is over, counted from the next pass: %s", taints, strings.Join(v.ProcessGroups, ", "))
	}
}
