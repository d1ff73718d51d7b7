package inspect

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Refusals returns the objects that the API server did not accept when a pass wrote them last, and that are still
// missing: those that exist by now, or whose process group does not exist, are left out.
func (f Facts) Refusals() []plan.Refusal {
	return slices.DeleteFunc(slices.Clone(f.Lease.Refusals), func(r plan.Refusal) bool { return r.Verb == "create" && !f.lacks(r) })
}

func (f Facts) lacks(r plan.Refusal) bool {
	name := r.ObjectName
	ofGroup := func(nameOf func(*v1beta2.ProcessGroupStatus) string) bool {
		return slices.ContainsFunc(f.Groups(), func(g *v1beta2.ProcessGroupStatus) bool { return nameOf(g) == name && !g.IsRemovable() })
	}
	switch r.ObjectKind {
	case plan.WrittenPod:
		return f.Pods[name] == nil && ofGroup(func(g *v1beta2.ProcessGroupStatus) string { return g.PodName(f.Cluster) })
	case plan.WrittenPVC:
		return f.Volumes[name] == nil && ofGroup(func(g *v1beta2.ProcessGroupStatus) string { return g.PVCName(f.Cluster) })
	case plan.WrittenService:
		return f.Services[name] == nil
	case plan.WrittenConfigMap:
		return f.ConfigMap == nil
	default:
		return true
	}
}
