package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// LimitError is why a context of Limited ended: the tools that were run within it took too long.
type LimitError struct{ After time.Duration }

func (e *LimitError) Error() string { return "no answer within " + phrase.Duration(e.After) }

// Limited returns a context for all that is read through pods within d. What was not read by then is
// a fact like any other that cannot be read: observations end without an error.
func Limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, &LimitError{After: d})
}

// exceeded returns the limit that ended ctx; nil if none did.
func exceeded(ctx context.Context) *LimitError {
	limit, _ := errors.AsType[*LimitError](context.Cause(ctx))
	return limit
}

// Interrupted returns the error of a context that ended by anything but a limit of Limited.
func Interrupted(ctx context.Context) error {
	if err := ctx.Err(); err != nil && exceeded(ctx) == nil {
		return err
	}
	return nil
}

const (
	// LogInAgain is what to do about credentials that the API server does not accept.
	LogInAgain = "log in again with the tool that issues the credentials, or correct the kubeconfig"
	// LoggedOut is LogInAgain with the reason.
	LoggedOut = "the credentials are missing or expired: " + LogInAgain
)

// noAnswer returns why a tool that was run within ctx did not answer. If the limit ended it, that
// names the pods in which it still ran.
func noAnswer(ctx context.Context, err error) string {
	limit, where := exceeded(ctx), admin.Unfinished(err)
	switch {
	case apierrors.IsUnauthorized(err):
		return LoggedOut
	case limit == nil || !errors.Is(err, context.DeadlineExceeded):
		return err.Error()
	case len(where) == 0:
		return limit.Error()
	default:
		return fmt.Sprintf("%s: the tool did not end in %s", limit, phrase.List(where))
	}
}
