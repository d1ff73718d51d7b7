package cmdutil

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// ExclusionFacts returns what a reader reads of a cluster, with the exclusions in force and in progress even where
// its spec does not need them. If they cannot be read they are unknown, with a warning.
func ExclusionFacts(ctx context.Context, cluster session.ClusterReader) (inspect.Facts, error) {
	return CoordinationFacts(ctx, cluster, "exclusions", func(ctx context.Context, r session.Reader, into *plan.CoordinationFacts) error {
		lists, err := r.ReadExclusions(ctx)
		into.ExclusionsRead, into.Exclusions = lists.ExclusionsRead, lists.Exclusions
		into.FailedExclusions, into.InProgressExclusions = lists.FailedExclusions, lists.InProgressExclusions
		return err
	})
}

// CoordinationFacts returns what a reader reads of a cluster, with what read adds of the state that control-plane
// instances share. What cannot be read is a warning, which names it by what.
func CoordinationFacts(ctx context.Context, cluster session.ClusterReader, what string, read func(context.Context, session.Reader, *plan.CoordinationFacts) error) (inspect.Facts, error) {
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
