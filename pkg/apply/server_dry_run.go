package apply

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// serverDryRunner asks the API server whether it would accept what an action writes; asked is
// false if it cannot determine that.
type serverDryRunner interface {
	Try(ctx context.Context, a plan.Action) (requested bool, err error)
}

// tryOut submits the actions of a plan as a server dry run, and fails with those that are
// rejected.
func (r *Run) tryOut(ctx context.Context, v planned.PlanView) error {
	server, can := r.Session.(serverDryRunner)
	if !can {
		return exit.Usagef("--dry-run=server requires a change of a cluster: use --dry-run")
	}
	tried, refusals := 0, []error{}
	for _, item := range v.Items {
		requested, err := server.Try(ctx, item.Details)
		if requested {
			tried++
		}
		if err != nil {
			refusals = append(refusals, fmt.Errorf("%s: %w", item.Stage, err))
		}
	}
	switch {
	case len(refusals) == 0 && tried == len(v.Items):
		r.Env.Logf("the API server accepts %s", phrase.Either(tried, "the only action", "all "+phrase.Count(tried, "action")))
		return nil
	case len(refusals) == 0:
		r.Env.Logf("the API server accepts %s; not checked: deletions, labels, the database, and actions that depend on these", phrase.CountOf(tried, len(v.Items), "action"))
		return nil
	}
	err := fmt.Errorf("the API server rejects %s: %w", phrase.CountOf(len(refusals), len(v.Items), "action"), errors.Join(refusals...))
	if code := exit.Worst(refusals); code != exit.ExitInternal {
		return &exit.Error{Code: code, Err: err}
	}
	return &exit.Error{Code: exit.ExitRefused, Err: err}
}
