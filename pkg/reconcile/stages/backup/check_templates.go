package backup

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// Restricted returns stages of a pass over a backup that end it first if the restrictions of the run forbid the
// pod template of the agents; the same stages without restrictions.
func Restricted(r objects.TemplateRestrictions, all []plan.Stage) []plan.Stage {
	if r.None() {
		return all
	}
	return slices.Insert(slices.Clone(all), 0, plan.Stage{
		Name:   plan.StageCheckTemplates,
		Reads:  plan.Backup,
		Decide: func(s plan.Snapshot) plan.Decision { return readings.TemplatesAllowed(r.OfBackup(s.Backup)) },
	})
}
