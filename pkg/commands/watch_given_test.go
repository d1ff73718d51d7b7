package commands

import (
	"context"
	"os"
	"syscall"
	"time"

	"go.uber.org/goleak"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// watched runs `reconcile --watch` over a simulated cluster. In every interval that counts the
// next of the steps is taken; after the last one comes the signal.
type watched struct {
	*given
	steps  []func()
	signal os.Signal // default SIGTERM
	// counts selects the intervals that count. Default: those that only a change ends soon.
	counts func(d time.Duration) bool

	next   int
	rung   bool
	timers []time.Duration
}

func (w *watched) run(args ...string) int {
	w.t.Helper()
	defer goleak.VerifyNone(w.t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancelCause(w.t.Context())
	defer cancel(nil)
	if w.signal == nil {
		w.signal = syscall.SIGTERM
	}
	if w.counts == nil {
		w.counts = func(d time.Duration) bool { return d == pace.DefaultResync }
	}
	w.clock.onTimer = func(d time.Duration) bool { return w.rest(d, cancel) }
	code := w.runIn(ctx, append([]string{"reconcile", "sample", "--watch"}, args...)...)
	if w.next < len(w.steps) {
		w.t.Errorf("the watch ended after %d of %d steps: %s%s", w.next, len(w.steps), &w.out, &w.err)
	}
	return code
}

// rest takes a step when the rest counts. Time stands still when that rang the bell.
func (w *watched) rest(d time.Duration, cancel context.CancelCauseFunc) (still bool) {
	w.timers = append(w.timers, d)
	w.rung = false
	switch {
	case !w.counts(d):
	case w.next == len(w.steps):
		cancel(&exit.InterruptedError{Signal: w.signal})
		return true
	default:
		w.next++
		w.steps[w.next-1]()
	}
	if d > sleepsMost && !w.rung {
		w.cluster.Tick(d)
	}
	return w.rung
}

// ring reports a change.
func (w *watched) ring(what plan.Facet) {
	w.rung = true
	w.follower.changed(what)
}

// longerThanBetweenPasses counts the rests after passes that failed or were held up.
func longerThanBetweenPasses(d time.Duration) bool { return d > pace.DefaultInterval }
