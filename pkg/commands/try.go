package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// trier asks the API server whether it would take what an action writes; asked is false
// where it cannot tell.
type trier interface {
	Try(ctx context.Context, a plan.Action) (asked bool, err error)
}

// tryOut has the API server try the actions of a plan, and fails with what it would not take.
func (r *run) tryOut(ctx context.Context, v ui.PlanView) error {
	server, can := r.session.(trier)
	if !can {
		return usagef("--dry-run=server is for changes of clusters; --dry-run shows the plan")
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
		r.env.talk("the API server would take %s", phrase.Either(tried, "the only action", "all "+phrase.Count(tried, "action")))
		return nil
	case len(refusals) == 0:
		r.env.talk("the API server would take %s; it was not asked about the others: deletions, labels, the database, and what builds on these", phrase.CountOf(tried, len(v.Items), "action"))
		return nil
	}
	err := fmt.Errorf("the API server would not take %s: %w", phrase.CountOf(len(refusals), len(v.Items), "action"), errors.Join(refusals...))
	if code := worst(refusals); code != ExitInternal {
		return &failure{code: code, err: err}
	}
	return &failure{code: ExitRefused, err: err}
}
