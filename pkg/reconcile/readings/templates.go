package readings

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// TemplateAllowed checks whether the restrictions of a run forbid anything of the pod templates of a resource.
func TemplateAllowed(forbidden []objects.Forbidden) plan.Check {
	c := plan.Check{ID: plan.CheckTemplateAllowed, Question: "do the restrictions of the run allow the pod templates?"}
	c.OK, c.Evidence = true, "they forbid nothing of them"
	if len(forbidden) > 0 {
		c.OK, c.Evidence = false, objects.ForbiddenText(forbidden)
	}
	return c
}

// TemplatesAllowed returns the decision that ends a pass if anything is forbidden.
func TemplatesAllowed(forbidden []objects.Forbidden) plan.Decision {
	c := TemplateAllowed(forbidden)
	d := plan.Decision{Checks: []plan.Check{c}}
	if !c.OK {
		d.Hold = &plan.Hold{Code: plan.HoldTemplateForbidden, Manual: true, Reason: c.Evidence, Then: plan.EndPass}
	}
	return d
}
