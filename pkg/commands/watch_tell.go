package commands

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// print writes a line of a watch's own into the stream of events.
func (w *watching) print(line any) {
	if w.env.hearing != nil {
		w.env.hearing.document(line)
	}
	if w.output == "json" {
		_ = ui.WriteJSON(w.env.Out, line) // a reader that went away ends the process
	}
}

// reason is why the last pass left something undone; empty when it did not.
func (w *watching) reason() string {
	if w.kept != nil {
		return explain(w.kept)
	}
	if words := w.why.words(w.last); words != "" {
		return words
	}
	if len(w.last.Housekeeping) > 0 {
		return w.last.Housekeeping[0].Words()
	}
	return ""
}

// tellEnding says in text how the cluster is, once for as long as that stays the
// same. What a pass waits for its stages have told.
func (w *watching) tellEnding() {
	if w.last.Acted > 0 && w.last.Outcome <= reconcile.Changed {
		w.told = ""
	}
	sentence := w.sentence()
	if w.output == "json" || sentence == "" || sentence == w.told {
		return
	}
	w.told = sentence
	fmt.Fprintln(w.env.Out, sentence)
}

func (w *watching) sentence() string {
	name := w.key.Name
	switch w.ending {
	case pace.Settled:
		return name + ": as it should be; waiting for changes"
	case pace.Held:
		return fmt.Sprintf("%s: waiting while somebody else acts: %s", name, w.holder())
	case pace.Blocked:
		return fmt.Sprintf("%s: blocked until somebody helps: %s", name, w.reason())
	case pace.Failed:
		return fmt.Sprintf("%s: failed, to be tried again: %s", name, w.reason())
	case pace.Waiting:
		if w.last.Outcome == reconcile.Done {
			return fmt.Sprintf("%s: as it should be, but for housekeeping: %s", name, w.last.Housekeeping[0].Task())
		}
	case pace.Unfinished:
	}
	return ""
}

// holder is who acts, without the time until which that is sure: it moves on.
func (w *watching) holder() string {
	var held *reconcile.HeldError
	if !errors.As(failureOf(w.last), &held) {
		return w.reason()
	}
	return (&reconcile.HeldError{What: held.What, Holder: held.Holder}).Error()
}

// conclude ends the watch. SIGTERM is how a watch is meant to end, and a cluster that
// is gone needs none; Ctrl-C, and what could not be given back, keep their codes.
func (w *watching) conclude(ctx context.Context, err error) error {
	end := w.end(ctx, err)
	cause := causeOf(ctx, err)
	interrupted := new(*InterruptedError)
	terminated := errors.As(cause, interrupted) && (*interrupted).Signal == syscall.SIGTERM
	if w.kept == nil && (terminated || errors.Is(cause, errGone)) {
		end = nil
	}
	if w.env.hearing != nil {
		w.env.hearing.document(w.result(end))
	}
	did := phrase.Count(w.acted, "action") + " in " + phrase.Count(w.count, "pass")
	if w.output == "json" {
		r := w.result(end)
		r.Reason = explain(w.withKept(cause))
		return errors.Join(ui.WriteJSON(w.env.Out, r), end)
	}
	fmt.Fprintf(w.env.Out, "%s: the watch ended after %s: %s\n", w.key.Name, did, explain(w.withKept(cause)))
	return end
}
