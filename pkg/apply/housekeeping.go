package apply

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// isTidy reports whether housekeeping allows the command to end. With --wait=all that takes a
// pass that neither did nor left any.
func (o *outcome) isTidy() bool { return !o.WaitAll || o.Last.Settled() }

// retryAfter returns how long the pass should wait at least; if only housekeeping is left, the
// time that takes.
func retryAfter(done reconcile.PassDone) time.Duration {
	if done.Outcome == reconcile.Done {
		return max(done.RetryAfter, done.TidyAfter())
	}
	return done.RetryAfter
}

// noteHousekeeping prints the housekeeping that the last pass left for later.
func (o *outcome) noteHousekeeping() {
	for _, h := range o.Last.Housekeeping {
		o.out.Line("%s: deferred to a later pass: %s", o.subject(), h.Text())
	}
}
