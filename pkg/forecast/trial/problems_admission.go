package trial

import (
	"math/rand/v2"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func (h *History) refuseClass(refused v1beta2.ProcessClass, kind plan.RefusalKind) {
	r := plan.NewRefusal(plan.WrittenPod, "p", kind, "rule", "refused")
	h.w.Reject = func(class v1beta2.ProcessClass) *plan.Refusal {
		if class == refused {
			return &r
		}
		return nil
	}
}

// refusedPods and fullDisks end with all other troubles.
var (
	refusedPods = problem{"pods-refused", "the API server refuses pods and PVCs", 0, aGroup, func(h *History, dice *rand.Rand) {
		if g := h.group(dice); g != nil {
			h.logf("pods and PVCs of class %s are refused", g.ProcessClass)
			h.refuseClass(g.ProcessClass, plan.RefusedByQuota)
		}
	}}
	fullDisks = problem{"disks-full", "all disks are full", 0, noGroup, fault("all disks are full", locked.Faults{FullDisks: true})}
)
