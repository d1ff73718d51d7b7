package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// observing is a session that reports when it is observed.
type observing struct {
	commandstest.Simulated
	observed func()
}

func (o observing) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	o.observed()
	return o.Simulated.Observe(ctx, into, facets)
}

// A command that waits for a pod reads it as soon as it changes, and not only when the wait that
// the pass asked for is over.
func TestAWaitEndsWhenAPodChanges(t *testing.T) {
	for name, tc := range map[string]struct {
		denied  []string
		changes bool
		// How long the first wait is.
		least, most time.Duration
	}{
		"nothing changes":            {least: 10 * time.Second, most: 17 * time.Second},
		"a pod changes":              {changes: true, most: 4 * time.Second},
		"a user who may not watch":   {denied: []string{"watch pods"}, changes: true, least: 10 * time.Second, most: 17 * time.Second},
		"one who may not watch them": {denied: []string{"watch foundationdbclusters.apps.foundationdb.org"}, changes: true, least: 10 * time.Second, most: 17 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Roomy(t)
			g.Denied, g.Follower = tc.denied, nil
			g.Cluster.Tick(time.Hour)
			var began, read time.Time // the first wait longer than the shortest one, and the end of it
			g.Clock.OnTimer = func(d time.Duration) (still bool) {
				if !began.IsZero() || d <= 2*time.Second {
					return false
				}
				began = g.Clock.Now()
				if tc.changes && g.Follower != nil {
					g.Follower.Changed(plan.Pods)
					return true
				}
				return false
			}
			g.Connect = func() (session.Session, error) {
				return observing{commandstest.Simulated{Cluster: g.Cluster, G: g}, func() {
					if !began.IsZero() && read.IsZero() {
						read = g.Clock.Now()
					}
				}}, nil
			}
			if code := g.Run(g.InText("replace", "sample", "STORAGE0", "--wait", "--yes")...); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			if took := read.Sub(began); began.IsZero() || took > tc.most || took < tc.least {
				t.Errorf("it waited for %s, want %s to %s", took, tc.least, tc.most)
			}
			if watches := g.Follower != nil; watches != (len(tc.denied) == 0) {
				t.Errorf("it watches: %t", watches)
			}
			if f := g.Follower; f != nil && (len(f.Known[plan.Pods]) == 0 || len(f.Known[plan.Volumes]) == 0 || len(f.Known[plan.ClusterResource]) != 1) {
				t.Errorf("the watch begins without what the pass has read: %v", f.Known)
			}
			if g.Follower != nil && (!g.Follower.Stopped || g.Follower.Facets != plan.ClusterResource|plan.Pods|plan.Volumes) {
				t.Errorf("stopped %t, followed %s", g.Follower.Stopped, g.Follower.Facets)
			}
			if g.Follower == nil && strings.Contains(g.Err.String(), "watch") {
				t.Errorf("it speaks of watching: %s", &g.Err)
			}
		})
	}
}
