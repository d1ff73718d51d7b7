package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/runbooks"
)

// run runs the steps that are left, and reports how the run ended.
func (r *runner) run(ctx context.Context) error {
	if err := r.mayStart(ctx); err != nil {
		return err
	}
	r.progress.Approved = r.progress.Approved || r.unapproved() > 0
	if err := r.store.write(ctx, r.progress); err != nil {
		return unwritable(err)
	}
	r.Logf("%s: %s, state %s", r.book.Metadata.Name, phrase.Count(len(r.book.Steps), "step"), r.store.name())
	stop := r.store.hold(ctx, r.Clock)
	ended := r.steps(ctx)
	stop()
	return r.finish(ctx, ended)
}

// unwritable returns the error of a state that cannot be written before the first step.
func unwritable(err error) error {
	if exit.Code(err) != exit.ExitInternal {
		return err // it has a code of its own
	}
	return exit.Usage(err)
}

// steps runs steps until none is left, or the invocation has to end.
func (r *runner) steps(ctx context.Context) error {
	ctx, cancel := session.WithTimeout(ctx, r.Clock, time.Duration(r.book.Timeout))
	defer cancel()
	for {
		move := r.book.Next(r.progress)
		if move.Result == nil {
			return nil
		}
		if ctx.Err() != nil {
			return exit.CauseOf(ctx, ctx.Err())
		}
		if move.After > 0 {
			if err := r.Env.Waiting().Pause(ctx, move.After, "the next attempt of step "+move.Step.Name); err != nil {
				return err
			}
		}
		if err := r.runStep(ctx, move); err != nil {
			return err
		}
	}
}

// number returns the position of a step: "2/6".
func (r *runner) number(m runbook.Move) string {
	if m.Compensates {
		return "revert"
	}
	for i := range r.book.Steps {
		if &r.book.Steps[i] == m.Step {
			return fmt.Sprintf("%d/%d", i+1, len(r.book.Steps))
		}
	}
	return phrase.UnknownCell
}

// announce prints that a step begins.
func (r *runner) announce(m runbook.Move) {
	r.Logf("[%s] %s: %s", r.number(m), m.Step.Name, runbooks.What(*m.Result, m.Step))
}

// conclude prints how a step ended, and what follows.
func (r *runner) conclude(m runbook.Move, e end, action runbook.Action) {
	line := fmt.Sprintf("[%s] %s: %s", r.number(m), m.Step.Name, runbooks.Ended(*m.Result))
	if e.outside {
		line += ": " + e.message
	}
	if action != runbook.Continue {
		line += "; " + string(action)
	}
	r.Logf("%s", line)
}

// finish notes the end of the invocation, writes reports, and returns the error that determines the exit
// code.
func (r *runner) finish(ctx context.Context, cause error) error {
	err := r.verdict(cause)
	code, at := exit.Code(err), r.Clock.Now().UTC()
	r.progress.ExitCode, r.progress.EndedAt = &code, &at
	written := errors.Join(r.store.write(ctx, r.progress), r.writeReports())
	report := runbooks.NewReport(r.Metadata(r.Env.Run.About), r.Clock.Now(), *r.progress, r.store.name())
	printed := r.Print(r.Out, format.Printable{
		Document: report, Names: []string{"runbook/" + r.progress.Runbook},
		Table: func(w io.Writer) error { return runbooks.WriteReport(w, report, ui.Table{NoHeaders: r.NoHeaders}) },
	})
	if err == nil {
		return errors.Join(written, printed)
	}
	if problem := errors.Join(written, printed); problem != nil {
		r.Logf("error: %v", problem)
	}
	return err
}

// verdict returns the error of the run: the cause that ended the invocation, or the step that failed.
func (r *runner) verdict(cause error) error {
	resume := []string{r.Command("run", r.source.Name, "--state", r.store.name())}
	if cause != nil {
		return &exit.Error{Code: exit.Code(cause), Err: fmt.Errorf("the run of %s has not ended: %w", r.progress.Runbook, cause), Hints: resume}
	}
	if r.progress.Outcome == runbook.Succeeded {
		return nil
	}
	if r.progress.Outcome == runbook.Compensated {
		failure := r.progress.FailedStep()
		return &exit.Error{Code: *failure.ExitCode, Err: fmt.Errorf("step %s ended with exit code %d; %s reverted", failure.Name, *failure.ExitCode, phrase.Count(len(r.progress.Compensations), "step")+" "+phrase.Either(len(r.progress.Compensations), "was", "were"))}
	}
	failure := r.progress.Failure()
	if len(r.progress.Compensations) > 0 {
		return &exit.Error{Code: exit.ExitPartly, Err: fmt.Errorf("revert step %s: exit code %d", failure.Name, *failure.ExitCode), Hints: resume}
	}
	if failure.Kind == runbook.KindApprove && *failure.ExitCode == exit.ExitUnconfirmed {
		if digest, err := r.toApprove(&r.book.Steps[r.indexOf(failure.Name)]); err == nil {
			resume = []string{r.Command("run", r.source.Name, "--state", r.store.name(), "--approve", failure.Name+"="+digest)}
		}
		return &exit.Error{Code: exit.ExitUnconfirmed, Err: fmt.Errorf("step %s is not approved", failure.Name), Hints: resume}
	}
	return &exit.Error{Code: *failure.ExitCode, Err: fmt.Errorf("step %s ended with exit code %d", failure.Name, *failure.ExitCode), Hints: resume}
}

func (r *runner) indexOf(name string) int {
	for i := range r.book.Steps {
		if r.book.Steps[i].Name == name {
			return i
		}
	}
	return -1
}
