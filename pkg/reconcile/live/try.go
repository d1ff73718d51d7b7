package live

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Try sends the write of an action to the API server as a dry run, with all its validation. It
// skips changes of the database, and objects that exist only after earlier actions. The cluster
// must have been observed.
func (w *Cluster) Try(ctx context.Context, a plan.Action) (tried bool, err error) {
	own, is := a.(plan.ClusterAction)
	if !is || !canBeTried(a) {
		return false, nil
	}
	dry := New(Options{Client: client.NewDryRunClient(w.Client), Key: w.Key, Clock: w.Clock})
	dry.known.remember(w.known.cluster())
	return true, dry.carryOut(ctx, own)
}

// canBeTried reports whether an action is one write or several that do not build on each
// other, and to the API server alone.
func canBeTried(a plan.Action) bool {
	switch a := a.(type) { //nolint:gochecksumtype // all others are not tried
	case plan.CreatePVC, plan.CreatePod, plan.ApplyConfigMap, plan.AddGroups, plan.MarkForRemoval, plan.KeepGroups, plan.WriteStatus,
		plan.CordonNode, plan.UncordonNode, plan.SetSkip, plan.SetPriorities, plan.AdoptSpec, plan.RecordTaints, plan.RecordFailures,
		plan.ApplyFailureDetector, plan.DeleteFailureDetector,
		plan.ApplyDisruptionBudget, plan.SetTolerations:
		return true
	case plan.ApplyService:
		return a.Verb != plan.ReplaceService
	default:
		return false
	}
}
