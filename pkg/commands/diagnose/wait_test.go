package diagnose_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestLongReadsAreReportedEveryTenSeconds(t *testing.T) {
	g := commandstest.NewGiven(t)
	h := &session.Heartbeat{Env: g.Environment()}
	h.Report(reconcile.Observing{Facets: plan.Database})
	for range 35 {
		g.Cluster.Tick(time.Second)
		h.Beat()
	}
	if output := strings.Count(g.Err.String(), "reading database"); output != 3 {
		t.Errorf("printed %d times in 35 s, want 3: %s", output, &g.Err)
	}
	h.Report(reconcile.Observed{})
	g.Err.Reset()
	g.Cluster.Tick(time.Minute)
	h.Beat()
	if g.Err.Len() > 0 {
		t.Errorf("nothing goes on, and yet: %s", &g.Err)
	}
}

func TestAWaitIsPrintedOnceAndThenAtGrowingIntervals(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Cluster.LeaseHolder = "alice"
	g.Run("reconcile", "sample", "--yes", "--wait", "--timeout", "8m")
	if output := strings.Count(g.Out.String(), "waiting  the lease"); output != 1 {
		t.Errorf("the reason was printed %d times on stdout, want once: %s", output, &g.Out)
	}
	// After 10 s, 30 s, 70 s, 2m30s and 5m10s. Simulated time flies until the limit is noticed.
	if output := strings.Count(g.Err.String(), "still waiting: the lease is held by alice"); output < 4 || output > 6 {
		t.Errorf("printed %d times in 8 minutes: %s", output, &g.Err)
	}
}

// One stage may wait for minutes while another could go on in seconds.
func TestRetryIntervalBetweenPassesIsCapped(t *testing.T) {
	const most = 15 * time.Second
	tests := map[string]struct{ requested, interval, longest, want time.Duration }{
		"as long as the pass asks for":  {10 * time.Second, 2 * time.Second, most, 10 * time.Second},
		"--interval at least":           {0, 2 * time.Second, most, 2 * time.Second},
		"a quarter of a minute at most": {10 * time.Minute, 2 * time.Second, most, most},
		"an --interval that is longer":  {10 * time.Minute, time.Minute, most, time.Minute},
		"a shorter bound":               {10 * time.Minute, 2 * time.Second, 5 * time.Second, 5 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := apply.RestAfter(reconcile.PassDone{RetryAfter: tc.requested}, tc.interval, tc.longest); got != tc.want {
				t.Errorf("rests %s, want %s", got, tc.want)
			}
		})
	}
}

// An environment that shortens the waits of tests must not turn them off, nor lengthen those of users.
func TestTheLongestIntervalOfTheEnvironmentIsAPositiveDuration(t *testing.T) {
	for value, refused := range map[string]bool{"3s": false, "0s": true, "-1s": true, "soon": true} {
		g := commandstest.NewGiven(t)
		g.Env = map[string]string{apply.LongestRestVariable: value}
		if got := g.Run("reconcile", "sample", "--dry-run"); (got == exit.ExitUsage) != refused {
			t.Errorf("%s=%q: exit code %d, refused %t: %s", apply.LongestRestVariable, value, got, refused, &g.Err)
		}
	}
}
