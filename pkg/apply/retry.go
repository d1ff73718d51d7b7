package apply

import (
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// MaxErrorDuration is how long a wait continues without an answer: an API server that restarts,
// or a pod that fdbcli ran in, is back long before, and what lasts longer requires someone on
// call.
const MaxErrorDuration = 5 * time.Minute

// retryable reports whether the command waits and the error means that there was no answer,
// which may change. All that a pass does can be repeated. A store that did not answer is not
// retried: access to it is often denied, which requires manual intervention, and the backup
// tool has already waited.
func (p *pacing) retryable(err error) bool {
	if !p.Wait || exit.CodeOf(err) != exit.ExitUnreachable || admin.KindOf(err) == admin.KindStoreUnresponsive {
		return false
	}
	return p.since.IsZero() || p.Env.Clock.Since(p.since) < MaxErrorDuration
}

// backOff returns the next pass, after a longer time each time.
func (p *pacing) backOff(problem error) *nextPass {
	if p.since.IsZero() {
		p.since, p.retries = p.Env.Clock.Now(), pace.Pace{Interval: p.Interval}
	}
	rest := min(p.retries.After(pace.Failed, 0).AtLeast, max(longestRest, p.Interval))
	left := MaxErrorDuration - p.Env.Clock.Since(p.since)
	failures := strings.Join(strings.Split(exit.Explain(problem), "\n"), "; ") // a line per failed stage
	p.Env.Logf("no answer: %s; retrying in %s, for at most %s more", p.amongOthers(failures), rest.Round(time.Second), left.Round(time.Second))
	return &nextPass{after: rest}
}
