package why

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// wasRefused adds that the API server did not accept the object of an action when a pass wrote it last: the next
// pass only tries again.
func (w *why) wasRefused(c *Chain, item planned.PlanItem) bool {
	r, refused := plan.RefusalOf(item.Details, w.Refusals())
	if !refused {
		return false
	}
	c.judgeRefusal(r)
	c.Reasons = append([]Link{w.refusedObject(r)}, c.Reasons...) // before the symptom that the pod does not exist
	c.Next = append(c.Next, w.nextAfter(r)...)
	return true
}

// byRefusals leaves what is pending to the rules that did not accept it.
func (w *why) byRefusals(items []planned.PlanItem, c *Chain) bool {
	var all []plan.Refusal
	for _, item := range items {
		if r, refused := plan.RefusalOf(item.Details, w.Refusals()); refused {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return false
	}
	c.Next = nil
	for _, r := range plan.ByRule(all) {
		c.judgeRefusal(r)
		c.Reasons = append(c.Reasons, w.refusedObject(r))
		c.Next = append(c.Next, w.nextAfter(r)...)
	}
	return true
}

func (c *Chain) judgeRefusal(r plan.Refusal) {
	if c.State != Blocked {
		c.State, c.rank = Waiting, rankBlocked
	}
	if !r.Waits() {
		c.State, c.rank = Blocked, rankBlocked
	}
}

// refusedObject returns the link of a refusal, which is the same for all objects that one rule refused.
func (w *why) refusedObject(r plan.Refusal) Link {
	return Link{
		Message: r.Rule() + " has refused it for " + phrase.Duration(w.Now.Sub(r.Since)) + ": " + inspect.OneLine(r.Message) + "; " + r.Remedy(),
		key:     "refused " + string(r.Kind) + " " + r.By,
	}
}

// nextAfter returns the commands that show the rule, and whether it still refuses.
func (w *why) nextAfter(r plan.Refusal) []string {
	again := w.FDB("reconcile", w.name, "--dry-run=server")
	switch r.Kind {
	case plan.RefusedByQuota, plan.RefusedByQuotaValues:
		return []string{w.Kubectl("describe", "resourcequotas"), again}
	case plan.RefusedByLimitRange:
		return []string{w.Kubectl("describe", "limitranges"), again}
	case plan.RefusedByPodSecurity, plan.RefusedByPolicy, plan.RefusedAsInvalid, plan.RefusedByNamespace:
	}
	return []string{again}
}
