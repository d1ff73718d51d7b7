package cmdutil

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// CoordinationFacts returns the facts about one cluster with what control-plane instances share, as
// read returns it. What cannot be read is a warning, which names it by what.
func CoordinationFacts(ctx context.Context, env *session.Env, key types.NamespacedName, what string, read func(session.Reader, context.Context) (plan.CoordinationFacts, error)) (inspect.Facts, error) {
	why := ""
	facts, err := session.ClusterReader{Env: env, Key: key, Asks: plan.Database, More: func(ctx context.Context, r session.Reader, s *plan.Snapshot) error {
		if !s.Database.Available() {
			return nil // the database is unavailable, and trying takes a minute
		}
		shared, err := read(r, ctx)
		if err != nil && live.Interrupted(ctx) == nil {
			why = exit.Explain(exit.CauseOf(ctx, err))
		}
		s.Coordination = shared
		return live.Interrupted(ctx)
	}}.Facts(ctx)
	if why != "" {
		facts.Warnings = append(facts.Warnings, "cannot read "+what+": "+why)
	}
	return facts, err
}
