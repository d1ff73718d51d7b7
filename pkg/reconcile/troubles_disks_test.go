package reconcile_test

import (
	"math/rand/v2"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// everyWithFullDisks is of how many lives one has disks that fill. All others stay the same without them.
const everyWithFullDisks = 7

// fillDisks fills all disks, or enlarges them, in some histories. It ends the trouble that the database had.
func (h *history) fillDisks(s step) {
	if h.life.seed%everyWithFullDisks != 4 {
		return
	}
	switch dice := rand.New(rand.NewPCG(s.dice, 25)); dice.IntN(4) {
	case 0:
		fault("all disks are full", fdbsim.Faults{FullDisks: true})(h, dice)
	case 1:
		fault("no disk is full", fdbsim.Faults{})(h, dice)
	}
}

// callsHealthy judges what a user sees of a database that starts no transactions of its clients.
func callsHealthy(h *history, _ *deed) string {
	if !h.full {
		return ""
	}
	var s plan.Snapshot
	if err := h.w.Observe(h.t.Context(), &s, plan.ClusterResource|plan.Pods|plan.Volumes|plan.Nodes|plan.ConfigMap|plan.Database); err != nil {
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
