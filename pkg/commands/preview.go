package commands

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// alreadySeen answers a preview from an earlier snapshot, so that both show the same moment and
// the database is queried once.
type alreadySeen struct {
	Session
	seen plan.Snapshot
}

// Observe implements reconcile.Observer.
func (a alreadySeen) Observe(_ context.Context, into *plan.Snapshot, facets plan.Facet) error {
	for facet, take := range map[plan.Facet]func(){
		plan.Record:       func() { into.Cluster = a.seen.Cluster },
		plan.Nodes:        func() { into.Nodes, into.NodesHidden = a.seen.Nodes, a.seen.NodesHidden },
		plan.Pods:         func() { into.Pods = a.seen.Pods },
		plan.Volumes:      func() { into.Volumes = a.seen.Volumes },
		plan.Services:     func() { into.Services = a.seen.Services },
		plan.ConfigMap:    func() { into.ConfigMap = a.seen.ConfigMap },
		plan.PodFiles:     func() { into.PodFiles = a.seen.PodFiles },
		plan.Database:     func() { into.Database = a.seen.Database },
		plan.Coordination: func() { into.Coordination = a.seen.Coordination },
	} {
		if facets&facet != 0 {
			take()
		}
	}
	into.Now = a.seen.Now
	return nil
}

// preview decides what a full pass would do about the observed snapshot. It changes nothing.
func (l observation) preview(ctx context.Context, env *Env, key types.NamespacedName, gates live.GateOptions) (planned.PlanView, error) {
	r := run{env: env, key: key, session: alreadySeen{l.session, l.seen}, stageList: stages.Cluster(), seed: env.Random(), gates: gates, command: []string{"reconcile", key.Name}, readsOnly: true}
	view, _, err := r.preview(ctx)
	return view, err
}
