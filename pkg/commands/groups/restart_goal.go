package groups

import (
	"context"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// restarting is the goal of `restart`: process groups whose processes all started after the
// command.
type restarting struct {
	groups []v1beta2.ProcessGroupID
	since  time.Time
}

func (r restarting) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database); err != nil {
		return nil, false, err
	}
	targets := targets.Restarts(facts, r.groups, r.since)
	return targets, inspect.AllReached(targets), nil
}

func (r restarting) Summary(to apply.Extent) string {
	names := phrase.List(r.groups)
	if to == apply.Reached {
		return "restarted: " + names
	}
	return "restart requested: " + names + "; use --wait to wait for them to report again"
}
