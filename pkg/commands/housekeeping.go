package commands

import (
	"fmt"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// isTidy reports whether the command may end as far as housekeeping is concerned. With
// --wait=all that takes a pass that neither did nor left anything.
func (p *passes) isTidy() bool { return !p.waitAll || p.last.Settled() }

// retryAfter is how long what a pass waits for takes at least; where only housekeeping is
// left, that.
func retryAfter(done reconcile.PassDone) time.Duration {
	if done.Outcome == reconcile.Done {
		return max(done.RetryAfter, done.TidyAfter())
	}
	return done.RetryAfter
}

// noteHousekeeping prints what the last pass left to a later one.
func (p *passes) noteHousekeeping() {
	for _, h := range p.last.Housekeeping {
		fmt.Fprintf(p.env.Out, "%s: left to a later pass: %s\n", p.subject(), h.Words())
	}
}
