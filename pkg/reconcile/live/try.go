package live

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Try asks the API server whether it would take what an action writes: it goes through
// everything that a write goes through, and keeps nothing. It is not asked about what the
// database does, and about objects that are not there before earlier actions have run. The
// record has to have been observed.
func (w *World) Try(ctx context.Context, a plan.Action) (asked bool, err error) {
	if !canBeTried(a) {
		return false, nil
	}
	w.mu.Lock()
	dry := &World{Client: client.NewDryRunClient(w.Client), Key: w.Key, Clock: w.Clock, record: w.record}
	w.mu.Unlock()
	return true, dry.carryOut(ctx, a)
}

// canBeTried reports whether an action is one write or several that do not build on each
// other, and to the API server alone.
func canBeTried(a plan.Action) bool {
	switch a := a.(type) { //nolint:gochecksumtype // what is not named here is not tried
	case plan.CreatePVC, plan.CreatePod, plan.ApplyConfigMap, plan.AddGroups, plan.MarkForRemoval, plan.KeepGroups, plan.WriteStatus,
		plan.CordonNode, plan.UncordonNode, plan.SetSkip, plan.AdoptSpec, plan.RecordTaints:
		return true
	case plan.ApplyService:
		return a.Verb != plan.ReplaceService
	default:
		return false
	}
}
