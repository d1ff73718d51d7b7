package commands

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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
		plan.Detector:     func() { into.Detector = a.seen.Detector },
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

// serverDryRunner asks the API server whether it would accept what an action writes; asked is
// false if it cannot determine that.
type serverDryRunner interface {
	Try(ctx context.Context, a plan.Action) (asked bool, err error)
}

// tryOut submits the actions of a plan as a server dry run, and fails with those that are
// rejected.
func (r *run) tryOut(ctx context.Context, v planned.PlanView) error {
	server, can := r.session.(serverDryRunner)
	if !can {
		return usagef("--dry-run=server requires a change of a cluster: use --dry-run")
	}
	tried, refusals := 0, []error{}
	for _, item := range v.Items {
		asked, err := server.Try(ctx, item.Details)
		if asked {
			tried++
		}
		if err != nil {
			refusals = append(refusals, fmt.Errorf("%s: %w", item.Stage, err))
		}
	}
	switch {
	case len(refusals) == 0 && tried == len(v.Items):
		r.env.logf("the API server accepts %s", phrase.Either(tried, "the only action", "all "+phrase.Count(tried, "action")))
		return nil
	case len(refusals) == 0:
		r.env.logf("the API server accepts %s; not checked: deletions, labels, the database, and actions that depend on these", phrase.CountOf(tried, len(v.Items), "action"))
		return nil
	}
	err := fmt.Errorf("the API server rejects %s: %w", phrase.CountOf(len(refusals), len(v.Items), "action"), errors.Join(refusals...))
	if code := worst(refusals); code != ExitInternal {
		return &failure{code: code, err: err}
	}
	return &failure{code: ExitRefused, err: err}
}
