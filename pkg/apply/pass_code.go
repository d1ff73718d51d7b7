package apply

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// passCode returns the exit code of a pass that ran to its end.
func passCode(done reconcile.PassDone) int {
	if done.Stopped != nil {
		return exit.CodeOf(done.Stopped)
	}
	switch done.Outcome {
	case reconcile.Done, reconcile.Changed:
		return exit.ExitDone
	case reconcile.Waiting:
		return orCode(conflicts(done.Failures), exit.ExitWaiting)
	case reconcile.Blocked:
		return orCode(conflicts(done.Failures), exit.ExitRefused)
	case reconcile.Failed:
		return failedCode(done)
	}
	return exit.ExitInternal
}

// failedCode returns the exit code of a pass in which a stage failed: partly done, unless the
// failure has a more helpful code of its own. If nothing was done, a refusal is one.
func failedCode(done reconcile.PassDone) int {
	code := exit.Worst(done.Failures)
	helps := code == exit.ExitUsage || code == exit.ExitUnreachable || code == exit.ExitForbidden || code == exit.ExitConflict
	switch {
	case helps:
		return code
	case done.Acted > 0:
		return exit.ExitPartly
	default:
		return orCode(code, exit.ExitInternal) // a failed pass never exits with 0, even without a reason
	}
}

// conflicts returns ExitConflict if another run's turn is among the errors.
func conflicts(errs []error) int {
	for _, err := range errs {
		if exit.CodeOf(err) == exit.ExitConflict {
			return exit.ExitConflict
		}
	}
	return exit.ExitDone
}

func orCode(code, otherwise int) int {
	if code == exit.ExitDone {
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
