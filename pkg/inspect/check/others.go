package check

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// OtherControllers are the objects by which other controllers act on the pods and volumes of a
// cluster. Each list that could not be read has the reason: nothing is known about it then.
type OtherControllers struct {
	// Budgets are the PodDisruptionBudgets of the cluster's namespace.
	Budgets       []policyv1.PodDisruptionBudget
	BudgetsUnread string
	// Nodes are all nodes.
	Nodes       []corev1.Node
	NodesUnread string
	// Classes are all storage classes.
	Classes       []storagev1.StorageClass
	ClassesUnread string
}

func (o OtherControllers) budgetsByName() []*policyv1.PodDisruptionBudget {
	all := make([]*policyv1.PodDisruptionBudget, len(o.Budgets))
	for i := range o.Budgets {
		all[i] = &o.Budgets[i]
	}
	slices.SortFunc(all, func(a, b *policyv1.PodDisruptionBudget) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// node returns a node by its name; nil if it is unknown.
func (o OtherControllers) node(name string) *corev1.Node {
	i := slices.IndexFunc(o.Nodes, func(n corev1.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Nodes[i]
}

// withNodes returns the facts with the nodes that were read for the rules about autoscalers, where a pass needs none.
func (f Facts) withNodes() Facts {
	switch o := f.Others; {
	case f.Nodes != nil || f.NodesHidden != "" || len(o.Nodes) == 0:
	default:
		f.Nodes = map[string]*corev1.Node{}
		for i := range o.Nodes {
			f.Nodes[o.Nodes[i].Name] = &o.Nodes[i]
		}
	}
	return f
}

// unreadNodes returns why rules about nodes cannot be evaluated; empty if they can.
func (o OtherControllers) unreadNodes() string {
	if o.NodesUnread != "" {
		return "nodes could not be read: " + o.NodesUnread
	}
	return ""
}
