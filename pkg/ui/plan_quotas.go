package ui

import (
	"fmt"
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// namespaceRules prints what a plan takes of the quotas at most, and first what they and the ranges will refuse.
func (o PlanOptions) namespaceRules(w io.Writer, r *admission.Rules) {
	if r == nil {
		return
	}
	for _, c := range r.LimitRanges {
		layout.Entry(w, o.in(red, "limit range:")+" ", fmt.Sprintf("LimitRange %s refuses %s; %s",
			c.LimitRange, phrase.Count(c.Objects, c.ObjectKind), plan.Refusal{Kind: plan.RefusedByLimitRange}.Remedy()))
	}
	for _, name := range quotasOf(r) {
		var uses []string
		word, remedy := o.in(faint, "quota:"), ""
		for _, u := range r.Quotas {
			if u.Quota != name {
				continue
			}
			uses = append(uses, fmt.Sprintf("%s %s of %s", u.Resource, u.Peak, u.Hard))
			if u.Exceeded {
				word, remedy = o.in(red, "quota exceeded:"), "; "+plan.Refusal{Kind: plan.RefusedByQuota}.Remedy()
			}
		}
		layout.Entry(w, word+" ", fmt.Sprintf("ResourceQuota %s: %s at the peak%s", name, phrase.List(uses), remedy))
	}
	for _, unread := range r.Unknown {
		layout.Entry(w, o.in(yellow, "quota:")+" ", "Unknown: "+unread)
	}
}

func quotasOf(r *admission.Rules) (names []string) {
	for _, u := range r.Quotas {
		if len(names) == 0 || names[len(names)-1] != u.Quota {
			names = append(names, u.Quota)
		}
	}
	return names
}
