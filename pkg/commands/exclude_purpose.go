package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// excluding is the purpose of `exclude`: process groups on which nothing depends.
type excluding []v1beta2.ProcessGroupID

func (e excluding) look(ctx context.Context, s Session) ([]ui.Target, bool, error) {
	facts := ui.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.Record|plan.Pods|plan.Database|plan.Coordination); err != nil {
		return nil, false, err
	}
	if err := readExclusions(ctx, s, &facts); err != nil {
		return nil, false, err
	}
	targets := ui.Exclusions(facts, e)
	return targets, ui.AllReached(targets), nil
}

// readExclusions reads the exclusions where passes saw no need to: of a group that went silent
// right after it was excluded no process says so, and no pass may have seen it.
func readExclusions(ctx context.Context, s Session, facts *ui.Facts) error {
	if facts.Coordination.ExclusionsRead || !facts.Database.Available() {
		return nil
	}
	read, err := s.ReadExclusions(ctx)
	if err != nil {
		return ctx.Err() // what could not be read stays unknown, and proves nothing
	}
	c := &facts.Coordination
	c.ExclusionsRead, c.Exclusions, c.FailedExclusions, c.InProgressExclusions = read.ExclusionsRead, read.Exclusions, read.FailedExclusions, read.InProgressExclusions
	return nil
}

func (e excluding) did(reached bool) string {
	names := phrase.List(e)
	if reached {
		return "drained: " + names
	}
	return "excluded: " + names + "; --wait, or the same command later, says when nothing depends on them any more"
}

// including is the purpose of `include`: process groups, and exclusions by their own
// names, of which none is in force.
type including struct {
	groups  []v1beta2.ProcessGroupID
	targets []string
}

func (i including) look(ctx context.Context, s Session) ([]ui.Target, bool, error) {
	facts := ui.Facts{}
	if err := s.Observe(ctx, &facts.Snapshot, plan.Record|plan.Database|plan.Coordination); err != nil {
		return nil, false, err
	}
	targets := ui.Inclusions(facts, i.groups, i.targets)
	return targets, ui.AllReached(targets), nil
}

func (i including) did(reached bool) string {
	names := strings.Join(slices.Concat(phrase.Strings(i.groups), i.targets), ", ")
	switch {
	case names == "":
		return "nothing is excluded that could be included"
	case reached:
		return "included: " + names
	default:
		return "told to be included: " + names + "; the status of the database does not show it yet"
	}
}
