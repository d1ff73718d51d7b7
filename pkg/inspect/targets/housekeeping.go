package targets

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Removed marks targets as reached whose removal is complete except for housekeeping. It
// reports whether there are such targets and all are reached now.
func Removed(targets []inspect.Target, left []plan.Housekeeping) ([]inspect.Target, bool) {
	taken := false
	targets = slices.Clone(targets)
	for i, t := range targets {
		if t.Phase == phaseDeleted && isLeft(left, v1beta2.ProcessGroupID(t.ID)) {
			targets[i].Reached, targets[i].Note, taken = true, "a later pass ends its exclusion", true
		}
	}
	return targets, taken && inspect.AllReached(targets)
}

func isLeft(left []plan.Housekeeping, id v1beta2.ProcessGroupID) bool {
	return slices.ContainsFunc(left, func(h plan.Housekeeping) bool { return slices.Contains(h.Groups, id) })
}
