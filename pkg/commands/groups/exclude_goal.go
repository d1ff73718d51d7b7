package groups

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/targets"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// Excluding is the goal of `exclude`: process groups that are drained.
type Excluding []v1beta2.ProcessGroupID

func (e Excluding) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Pods|plan.Database|plan.Coordination); err != nil {
		return nil, false, err
	}
	if err := readExclusions(ctx, s, &facts); err != nil {
		return nil, false, err
	}
	targets := targets.Exclusions(facts, e)
	return targets, inspect.AllReached(targets), nil
}

// readExclusions reads exclusions that passes did not need: of a group that stopped reporting
// right after its exclusion the status has no process, and no pass may have seen it.
func readExclusions(ctx context.Context, s session.Session, facts *inspect.Facts) error {
	if facts.Coordination.ExclusionsRead || !facts.Database.Available() {
		return nil
	}
	read, err := s.ReadExclusions(ctx)
	if err != nil {
		return ctx.Err() // unread exclusions stay unknown and prove nothing
	}
	c := &facts.Coordination
	c.ExclusionsRead, c.Exclusions, c.FailedExclusions, c.InProgressExclusions = read.ExclusionsRead, read.Exclusions, read.FailedExclusions, read.InProgressExclusions
	return nil
}

func (e Excluding) Summary(to apply.Extent) string {
	names := phrase.List(e)
	if to == apply.Reached {
		return "drained: " + names
	}
	return "excluded: " + names + "; use --wait, or run the command again, to see when they are drained"
}

// including is the goal of `include`: none of these process groups and exclusion targets is
// excluded.
type including struct {
	groups  []v1beta2.ProcessGroupID
	targets []string
}

func (i including) Progress(ctx context.Context, s session.Session) ([]inspect.Target, bool, error) {
	facts := inspect.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.ClusterResource|plan.Database|plan.Coordination); err != nil {
		return nil, false, err
	}
	targets := targets.Inclusions(facts, i.groups, i.targets)
	return targets, inspect.AllReached(targets), nil
}

func (i including) Summary(to apply.Extent) string {
	names := strings.Join(slices.Concat(phrase.Strings(i.groups), i.targets), ", ")
	switch {
	case names == "":
		return "nothing to include"
	case to == apply.Reached:
		return "included: " + names
	default:
		return "inclusion requested: " + names + "; not yet visible in the database status"
	}
}
