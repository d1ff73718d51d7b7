package commands

import (
	"context"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// causeOf returns why a context ended: a signal, --timeout, or the context's error.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		return cause
	}
	return err
}

// passCode returns the exit code of a pass that ran to its end.
func passCode(done reconcile.PassDone) int {
	if done.Stopped != nil {
		return codeOf(done.Stopped)
	}
	switch done.Outcome {
	case reconcile.Done, reconcile.Changed:
		return ExitDone
	case reconcile.Waiting:
		return orCode(conflicts(done.Failures), ExitWaiting)
	case reconcile.Blocked:
		return orCode(conflicts(done.Failures), ExitRefused)
	case reconcile.Failed:
		return failedCode(done)
	}
	return ExitInternal
}

// failedCode returns the exit code of a pass in which a stage failed: partly done, unless the
// failure has a more helpful code of its own. If nothing was done, a refusal is one.
func failedCode(done reconcile.PassDone) int {
	code := worst(done.Failures)
	helps := code == ExitUsage || code == ExitUnreachable || code == ExitForbidden || code == ExitConflict
	switch {
	case helps:
		return code
	case done.Acted > 0:
		return ExitPartly
	default:
		return orCode(code, ExitInternal) // a failed pass never exits with 0, even without a reason
	}
}

// conflicts returns ExitConflict if another run's turn is among the errors.
func conflicts(errs []error) int {
	for _, err := range errs {
		if codeOf(err) == ExitConflict {
			return ExitConflict
		}
	}
	return ExitDone
}

func orCode(code, otherwise int) int {
	if code == ExitDone {
		return otherwise
	}
	return code
}

// all calls several reporters, in order.
func all(reporters ...func(reconcile.Event)) func(reconcile.Event) {
	return func(e reconcile.Event) {
		for _, report := range reporters {
			report(e)
		}
	}
}
