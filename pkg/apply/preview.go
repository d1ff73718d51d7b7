package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// AlreadySeen answers a preview from an earlier snapshot, so that both show the same moment and
// the database is queried once.
type AlreadySeen struct {
	session.Session
	Seen plan.Snapshot
}

// Observe implements reconcile.Observer. Budgets are no part of what commands observe, and are read
// for the clusters that request one.
func (a AlreadySeen) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	*into = into.With(facets&(plan.Everything|plan.Namespace)&^plan.DisruptionBudgets, a.Seen)
	if requested, err := plan.OptedIn(a.Seen.Cluster, plan.AnnotationDisruptionBudgets); facets&plan.DisruptionBudgets != 0 && (requested || err != nil) {
		if err := a.Session.Observe(ctx, into, plan.DisruptionBudgets); err != nil {
			return err
		}
	}
	if tried := facets & (plan.Successors | plan.FirstObjects); tried != 0 {
		if err := a.Session.Observe(ctx, into, tried); err != nil {
			return err
		}
	}
	into.Now = a.Seen.Now
	return nil
}

// Preview decides what a full pass would do about the observed snapshot. It changes nothing.
func Preview(ctx context.Context, l session.Observation, env *session.Env, key types.NamespacedName, gates live.GateOptions) (planned.PlanView, error) {
	r := Run{Env: env, Key: key, Session: AlreadySeen{l.Session, l.Seen}, StageList: stages.Cluster(), Seed: env.Random(), Gates: gates, Command: []string{"reconcile", key.Name}, readsOnly: true}
	view, _, err := r.Preview(ctx)
	return view, err
}
