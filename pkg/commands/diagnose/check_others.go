package diagnose

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// othersOf reads the objects of other controllers, if a rule needs them. A list that cannot be read
// is a fact.
func othersOf(ctx context.Context, c client.Client, namespace string, options check.Options) check.OtherControllers {
	o := check.OtherControllers{}
	if options.AsksFor("PDB", "RBAC") {
		budgets := &policyv1.PodDisruptionBudgetList{}
		o.BudgetsUnread = unread(c.List(ctx, budgets, client.InNamespace(namespace)))
		o.Budgets = budgets.Items
	}
	if options.AsksFor("SCALE-001", "SCALE-003", "SCALE-004", "STORAGE-004", inspect.CodeNodeLost, "RBAC") {
		nodes := &corev1.NodeList{}
		o.NodesUnread = unread(c.List(ctx, nodes))
		o.Nodes = nodes.Items
	}
	if options.AsksFor("STORAGE", "RBAC") {
		classes := &storagev1.StorageClassList{}
		o.ClassesUnread = unread(c.List(ctx, classes))
		o.Classes = classes.Items
	}
	return o
}

func unread(err error) string {
	if err == nil {
		return ""
	}
	return exit.Explain(err)
}
