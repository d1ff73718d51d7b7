package trial

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
)

// marksWithoutSuccessor judges marks of groups that are replaced. Surplus groups get no successor.
func marksWithoutSuccessor(h *History, d *deed) string {
	mark, is := d.action.(plan.MarkForRemoval)
	if !is || h.w.Reject == nil {
		return ""
	}
	normalized, err := h.w.Resource.Normalized()
	if err != nil {
		return ""
	}
	surplus := replacements.SurplusGroups(plan.Snapshot{Cluster: normalized})
	for _, id := range mark.Groups {
		g := h.w.Resource.ProcessGroup(id)
		if g != nil && surplus[g.ProcessClass] == 0 && h.w.Reject(g.ProcessClass) != nil {
			return string(id) + " is marked, and the API server refuses its successor"
		}
	}
	return ""
}

// callsHealthy judges what a user sees of a database that starts no transactions of its clients.
func callsHealthy(h *History, _ *deed) string {
	if !h.full {
		return ""
	}
	var s plan.Snapshot
	if err := h.w.Observe(context.Background(), &s, plan.ClusterResource|plan.Pods|plan.Volumes|plan.Nodes|plan.ConfigMap|plan.Database); err != nil {
		return "" // then there is nothing to show
	}
	f := inspect.Facts{Snapshot: s, Desired: objects.DesiredConfiguration(s.Cluster)}
	if h.change.view != nil {
		h.change.view(&f)
	}
	if v := inspect.NewStatusView(inspect.Metadata{}, f); v.State == inspect.StateHealthy {
		return v.Summary
	}
	return ""
}
