package operations

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
)

// KeepAndInclude returns a stage that takes process groups back, excluded or not, as
// CancelReplacements does for those that the spec keeps. It does so once: whatever marked a group
// before marks it again in the next pass.
func KeepAndInclude(groups []v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  plan.StageKeepGroups,
		Reads: replacements.KeepReads,
		Decide: func(s plan.Snapshot) plan.Decision {
			return replacements.Keep(s, groups, plan.RequestedByUser)
		},
	}
}
