package apply

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// reason returns why the last pass left something undone; empty if it did not.
func (w *watching) reason() string {
	if w.kept != nil {
		return exit.Explain(w.kept)
	}
	if words := w.why.Text(w.Last); words != "" {
		return words
	}
	if len(w.Last.Housekeeping) > 0 {
		return w.Last.Housekeeping[0].Text()
	}
	return ""
}

// printEnding prints the state of the cluster as text, once for as long as it stays the same.
// What a pass waits for is already printed by its stages.
func (w *watching) printEnding() {
	if w.Last.Acted > 0 && w.Last.Outcome <= reconcile.Changed {
		w.lastState = ""
	}
	sentence := w.sentence()
	if w.Output == "json" || sentence == "" || sentence == w.lastState {
		return
	}
	w.lastState = sentence
	w.out.Line("%s", sentence)
}

func (w *watching) sentence() string {
	name := w.Key.Name
	switch w.ending {
	case pace.Settled:
		return name + ": reconciled; waiting for changes"
	case pace.Held:
		return fmt.Sprintf("%s: waiting: another run is active: %s", name, w.holder())
	case pace.Blocked:
		return fmt.Sprintf("%s: blocked: manual intervention required: %s", name, w.reason())
	case pace.Failed:
		return fmt.Sprintf("%s: failed, will retry: %s", name, w.reason())
	case pace.Waiting:
		if w.Last.Outcome == reconcile.Done {
			return fmt.Sprintf("%s: reconciled except for housekeeping: %s", name, w.Last.Housekeeping[0].Task())
		}
	case pace.Unfinished:
	}
	return ""
}

// holder returns who holds the Lease, without its expiry: that changes all the time.
func (w *watching) holder() string {
	var held *reconcile.HeldError
	if !errors.As(failureOf(w.Last), &held) {
		return w.reason()
	}
	return (&reconcile.HeldError{What: held.What, Holder: held.Holder}).Error()
}

// conclude ends the watch. SIGTERM and the deletion of the cluster end it without an error;
// Ctrl-C, and what could not be released, keep their exit codes.
func (w *watching) conclude(ctx context.Context, err error) error {
	end := w.end(ctx, err)
	cause := exit.CauseOf(ctx, err)
	interrupted := new(*exit.InterruptedError)
	terminated := errors.As(cause, interrupted) && (*interrupted).Signal == syscall.SIGTERM
	if w.kept == nil && (terminated || errors.Is(cause, errClusterDeleted)) {
		end = nil
	}
	if w.Env.Observer != nil {
		w.Env.Observer.Document(w.result(end))
	}
	did := phrase.Count(w.acted, "action") + " in " + phrase.Count(w.count, "pass")
	if w.Output == "json" {
		r := w.result(end)
		r.Reason = exit.Explain(w.withKept(cause))
		return errors.Join(w.out.Result(r, nil), end)
	}
	w.out.Line("%s: the watch ended after %s: %s", w.Key.Name, did, exit.Explain(w.withKept(cause)))
	return end
}
