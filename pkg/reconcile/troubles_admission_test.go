package reconcile_test

import (
	"math/rand/v2"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
)

// everyRefusing is how often the API server of a history refuses objects. It has dice of its own, so that the other
// troubles of a seed stay the same.
const everyRefusing = 5

// refuseObjects begins and ends refusals of new pods and PVCs, in some histories.
func (h *history) refuseObjects(s step) {
	dice := rand.New(rand.NewPCG(s.dice, 23))
	if h.life.seed%everyRefusing != 3 {
		return
	}
	switch g := h.group(dice); dice.IntN(3) {
	case 0:
		if g != nil {
			h.logf("pods and PVCs of class %s are refused", g.ProcessClass)
			h.refuseClass(g.ProcessClass, []plan.RefusalKind{plan.RefusedByQuota, plan.RefusedByPolicy}[dice.IntN(2)])
		}
	case 1:
		h.logf("no object is refused")
		h.w.Reject = nil
	}
}

func (h *history) refuseClass(refused v1beta2.ProcessClass, kind plan.RefusalKind) {
	r := plan.NewRefusal(plan.WrittenPod, "p", kind, "rule", "refused")
	h.w.Reject = func(class v1beta2.ProcessClass) *plan.Refusal {
		if class == refused {
			return &r
		}
		return nil
	}
}

// marksWithoutSuccessor judges marks of groups that are replaced. Surplus groups get no successor.
func marksWithoutSuccessor(h *history, d *deed) string {
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
