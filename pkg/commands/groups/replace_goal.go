package groups

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// replacing is the goal of `replace`: removed process groups.
type replacing []v1beta2.ProcessGroupID

func (r replacing) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	targets := targets.Replacements(facts, r)
	return targets, inspect.AllReached(targets), nil
}

func (r replacing) Summary(to apply.Extent) string {
	names := phrase.List(r)
	if to == apply.Reached {
		return "replaced: " + names
	}
	return "marked for removal: " + names + "; run reconcile (or use --wait) to complete"
}

// keeping is the goal of `replace --undo`: process groups without a mark.
type keeping []v1beta2.ProcessGroupID

func (k keeping) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	targets := targets.Kept(facts, k)
	return targets, inspect.AllReached(targets), nil
}

func (k keeping) Summary(apply.Extent) string { return "not marked for removal: " + phrase.List(k) }
