package commands

import (
	"context"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
)

// troublePatience is how long a wait goes on while nobody answers: an API server that
// restarts, or a pod that fdbcli ran in, is back long before, and what lasts longer is for
// somebody on call.
const troublePatience = 5 * time.Minute

// bears reports whether the command waits, and the error is that nobody answered, which the
// next try may find over. Everything a pass does can be done again. A store that did not
// answer is not tried again: it is as often one that does not let anybody in, which a person
// has to look at, and a tool that asks it has waited already.
func (p *passes) bears(err error) bool {
	if !p.wait || codeOf(err) != ExitUnreachable || admin.KindOf(err) == admin.KindStoreSilent {
		return false
	}
	return p.since.IsZero() || p.env.Clock.Since(p.since) < troublePatience
}

// tryAgain rests, longer each time, before the next pass.
func (p *passes) tryAgain(ctx context.Context, trouble error) (bool, error) {
	if p.since.IsZero() {
		p.since, p.retries = p.env.Clock.Now(), pace.Pace{Interval: p.interval}
	}
	rest := min(p.retries.After(pace.Failed, 0).AtLeast, max(longestRest, p.interval))
	left := troublePatience - p.env.Clock.Since(p.since)
	said := strings.Join(strings.Split(explain(trouble), "\n"), "; ") // each step that failed has its line
	p.env.talk("no answer: %s; trying again in %s, for %s more at most", said, rest.Round(time.Second), left.Round(time.Second))
	return true, p.env.pause(ctx, rest, "")
}
