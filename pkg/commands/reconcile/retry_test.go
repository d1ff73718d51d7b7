package reconcile_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// flaky is a session that does not answer a number of calls.
type flaky struct {
	commandstest.Simulated
	calls      *int
	from, many int
	says       error
}

func (f flaky) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	*f.calls++
	if *f.calls >= f.from && *f.calls < f.from+f.many {
		return cmp.Or(f.says, error(&reconcile.UnreachableError{Err: commandstest.ErrNoAnswer}))
	}
	return f.Simulated.Observe(ctx, into, facets)
}

func TestAWaitRetriesThroughATemporaryOutage(t *testing.T) {
	const forEver = 1 << 30
	tests := map[string]struct {
		args       []string
		from, many int
		err        error // UnreachableError where there is none
		want       int
		says       string // a pattern: how long a rest is varies
	}{
		"a drain goes on":                 {args: []string{"drain", "NODE", "-c", "sample", "--yes"}, from: 17, many: 3, says: `retrying in [12]s, for at most 5m0s more`},
		"a replacement goes on":           {args: []string{"replace", "sample", "STORAGE0", "--wait", "--yes"}, from: 18, many: 2, says: "connection refused"},
		"a longer one is spaced":          {args: []string{"drain", "NODE", "-c", "sample", "--yes"}, from: 17, many: 5, says: `retrying in [3-6]s`},
		"a server that is overloaded":     {args: []string{"drain", "NODE", "-c", "sample", "--yes"}, from: 19, many: 3, err: apierrors.NewTooManyRequests("later", 1), says: "no answer: .*CordonNodes: later.*; retrying in "},
		"not forever":                     {args: []string{"drain", "NODE", "-c", "sample", "--yes"}, from: 17, many: forEver, want: exit.ExitUnreachable, says: `retrying in 1[0-9]s`},
		"what does not wait ends with it": {args: []string{"replace", "sample", "STORAGE0", "--yes"}, from: 4, many: forEver, want: exit.ExitUnreachable},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Roomy(t)
			g.Cluster.Tick(time.Hour)
			args, calls := g.InText(tc.args...), 0
			g.Connect = func() (session.Session, error) {
				return flaky{commandstest.Simulated{Cluster: g.Cluster, G: g}, &calls, tc.from, tc.many, tc.err}, nil
			}
			before := g.Clock.Now()
			if code := g.Run(args...); code != tc.want || !regexp.MustCompile(tc.says).MatchString(g.Err.String()) {
				t.Errorf("exit code %d, want %d and %q, after %d calls:\n%s%s", code, tc.want, tc.says, calls, &g.Out, &g.Err)
			}
			if tc.many == forEver && g.Clock.Now().Sub(before) > 2*apply.MaxErrorDuration {
				t.Errorf("it took %s", g.Clock.Now().Sub(before))
			}
			if tc.want == exit.ExitDone && calls < tc.from+tc.many {
				t.Errorf("%d calls: nothing went wrong", calls)
			}
		})
	}
}

// lostLease is a session whose answers to taking the Lease are lost for a while: it is taken.
type lostLease struct {
	commandstest.Simulated
	many *int
}

func (l lostLease) Begin(ctx context.Context) error {
	if err := l.Simulated.Begin(ctx); err != nil {
		return err
	}
	if *l.many--; *l.many >= 0 {
		return fmt.Errorf("take the Lease: unexpected error when reading response body: %w", io.ErrUnexpectedEOF)
	}
	return nil
}

func TestALostResponseToALeaseRequestIsRetried(t *testing.T) {
	for name, tc := range map[string]struct {
		many, want int
		says       string
	}{
		"one":      {many: 1, want: exit.ExitDone, says: `unexpected EOF; retrying in [12]s`},
		"all":      {many: 1 << 30, want: exit.ExitUnreachable, says: `unexpected EOF`},
		"none was": {want: exit.ExitDone},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Roomy(t)
			g.Cluster.Tick(time.Hour)
			g.Connect = func() (session.Session, error) {
				return lostLease{commandstest.Simulated{Cluster: g.Cluster, G: g}, &tc.many}, nil
			}
			code := g.Run(g.InText("replace", "sample", "STORAGE0", "--wait", "--yes")...)
			if code != tc.want || !regexp.MustCompile(tc.says).MatchString(g.Err.String()) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", code, tc.want, tc.says, &g.Out, &g.Err)
			}
		})
	}
}
