package apply

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// ServerDryRunner asks the API server whether it would accept what an action writes; requested is
// false if it cannot determine that.
type ServerDryRunner interface {
	Try(ctx context.Context, a plan.Action) (requested bool, err error)
}

// Tried is what the API server answered to a server dry run.
type Tried struct {
	// All is how many actions there are, and Requested how many of them it was queried about.
	All, Requested int
	// Rejected are its refusals.
	Rejected []error
	// Beyond is what it cannot be asked.
	Beyond string
}

// tryOut submits the actions of a plan as a server dry run, and fails with those that are
// rejected.
func (r *Run) tryOut(ctx context.Context, v planned.PlanView) error {
	server, can := r.Session.(ServerDryRunner)
	if !can {
		return exit.Usagef("--dry-run=server requires a change of a cluster: use --dry-run")
	}
	t := Tried{All: len(v.Items), Beyond: "deletions, labels, the database, and actions that depend on these"}
	for _, item := range v.Items {
		if requested, err := server.Try(ctx, item.Details); requested {
			t.Add(string(item.Stage), err)
		}
	}
	return t.End(r.Env)
}

// Add counts an answer; what names the action in its error.
func (t *Tried) Add(what string, err error) {
	t.Requested++
	if err != nil {
		t.Rejected = append(t.Rejected, fmt.Errorf("%s: %w", what, err))
	}
}

// End prints what the API server accepts, and fails with what it rejects.
func (t Tried) End(env *session.Env) error {
	switch {
	case len(t.Rejected) == 0 && t.Requested == t.All:
		env.Logf("the API server accepts %s", phrase.Either(t.All, "the only action", "all "+phrase.Count(t.All, "action")))
		return nil
	case len(t.Rejected) == 0:
		env.Logf("the API server accepts %s; not checked: %s", phrase.CountOf(t.Requested, t.All, "action"), t.Beyond)
		return nil
	}
	err := fmt.Errorf("the API server rejects %s: %w", phrase.CountOf(len(t.Rejected), t.All, "action"), errors.Join(t.Rejected...))
	if code := exit.Worst(t.Rejected); code != exit.ExitInternal {
		return &exit.Error{Code: code, Err: err}
	}
	return &exit.Error{Code: exit.ExitRefused, Err: err}
}
