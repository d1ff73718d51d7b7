package ui

import (
	"fmt"
	"slices"
	"strings"
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
			targets[i] = Target{ID: node, Phase: "leaving", Note: fmt.Sprintf("%d pods left: %s", len(left), strings.Join(left, ", "))}
		}
	}
	return targets
}

// OpenNodes are nodes that new pods may come to, as far as each is.
func OpenNodes(f Facts, nodes []string) []Target {
	targets := make([]Target, len(nodes))
	for i, name := range nodes {
		node := f.Nodes[name]
		switch {
		case node == nil:
			targets[i] = Target{ID: name, Phase: "unknown", Note: "the node is not there, or may not be read"}
		case node.Spec.Unschedulable:
			targets[i] = Target{ID: name, Phase: "cordoned"}
		default:
			targets[i] = Target{ID: name, Phase: "open", Reached: true}
		}
	}
	return targets
}
