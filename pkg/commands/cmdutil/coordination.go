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
	return withShared(ctx, session.ClusterReader{Env: env, Key: key, Asks: plan.Database}, what, func(ctx context.Context, r session.Reader, into *plan.CoordinationFacts) (err error) {
		*into, err = read(r, ctx)
		return err
	})
}

// ExclusionFacts returns all facts about one cluster, with the exclusions in force and in progress even where its
// spec does not need them. If they cannot be read they are unknown, with a warning.
func ExclusionFacts(ctx context.Context, env *session.Env, key types.NamespacedName) (inspect.Facts, error) {
	return withShared(ctx, session.ClusterReader{Env: env, Key: key}, "exclusions", func(ctx context.Context, r session.Reader, into *plan.CoordinationFacts) error {
		lists, err := r.ReadExclusions(ctx)
		into.ExclusionsRead, into.Exclusions = lists.ExclusionsRead, lists.Exclusions
		into.FailedExclusions, into.InProgressExclusions = lists.FailedExclusions, lists.InProgressExclusions
		return err
	})
}

func withShared(ctx context.Context, cluster session.ClusterReader, what string, read func(context.Context, session.Reader, *plan.CoordinationFacts) error) (inspect.Facts, error) {
	why := ""
	cluster.More = func(ctx context.Context, r session.Reader, s *plan.Snapshot) error {
		if !s.Database.Available() {
			return nil // the database is unavailable, and trying takes a minute
		}
		if err := read(ctx, r, &s.Coordination); err != nil && live.Interrupted(ctx) == nil {
			why = exit.Explain(exit.CauseOf(ctx, err))
		}
		return live.Interrupted(ctx)
	}
	facts, err := cluster.Facts(ctx)
	if why != "" {
		facts.Warnings = append(facts.Warnings, "cannot read "+what+": "+why)
	}
	return facts, err
}
