package plan

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// CordonNode keeps new pods from a node. The pods that run there stay.
type CordonNode struct {
	Node string `json:"node"`
	// Taint is set on the node as well; nil for none.
	Taint *corev1.Taint `json:"taint,omitempty"`
}

// Describe implements Action.
func (a CordonNode) Describe() string {
	if a.Taint == nil {
		return "cordon node " + a.Node
	}
	return fmt.Sprintf("cordon node %s and taint it %s", a.Node, a.Taint.ToString())
}

// Subject implements Action.
func (a CordonNode) Subject() string { return a.Node }

func (CordonNode) effect() Effect { return Effect{Stale: Nodes, Impact: NoImpact} }

// Done reports whether a node is as the action would make it.
func (a CordonNode) Done(n *corev1.Node) bool {
	return n.Spec.Unschedulable && (a.Taint == nil || slices.ContainsFunc(n.Spec.Taints, like(a.Taint)))
}

// Edit makes a node so, in place.
func (a CordonNode) Edit(n *corev1.Node) {
	n.Spec.Unschedulable = true
	if a.Taint != nil && !slices.ContainsFunc(n.Spec.Taints, like(a.Taint)) {
		n.Spec.Taints = append(n.Spec.Taints, *a.Taint)
	}
}

// Apply implements Edit.
func (a CordonNode) Apply(s Snapshot) Snapshot { return editNode(s, a.Node, a.Edit) }

// UncordonNode lets new pods onto a node again.
type UncordonNode struct {
	Node string `json:"node"`
	// Taint is taken off the node as well, whatever its value; nil for none.
	Taint *corev1.Taint `json:"taint,omitempty"`
}

// Describe implements Action.
func (a UncordonNode) Describe() string {
	if a.Taint == nil {
		return "uncordon node " + a.Node
	}
	return fmt.Sprintf("uncordon node %s and take its taint %s away", a.Node, a.Taint.ToString())
}

// Subject implements Action.
func (a UncordonNode) Subject() string { return a.Node }

func (UncordonNode) effect() Effect { return Effect{Stale: Nodes, Impact: NoImpact} }

// Done reports whether a node is as the action would make it.
func (a UncordonNode) Done(n *corev1.Node) bool {
	return !n.Spec.Unschedulable && (a.Taint == nil || !slices.ContainsFunc(n.Spec.Taints, like(a.Taint)))
}

// Edit makes a node so, in place.
func (a UncordonNode) Edit(n *corev1.Node) {
	n.Spec.Unschedulable = false
	if a.Taint != nil {
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, like(a.Taint))
	}
}

// Apply implements Edit.
func (a UncordonNode) Apply(s Snapshot) Snapshot { return editNode(s, a.Node, a.Edit) }

// like is of taints with the same key and effect: a node has one of them at most.
func like(taint *corev1.Taint) func(corev1.Taint) bool {
	return func(t corev1.Taint) bool { return t.MatchTaint(taint) }
}

func editNode(s Snapshot, name string, edit func(*corev1.Node)) Snapshot {
	if s.Nodes[name] == nil {
		return s
	}
	s.Nodes = maps.Clone(s.Nodes)
	node := s.Nodes[name].DeepCopy()
	edit(node)
	s.Nodes[name] = node
	return s
}
