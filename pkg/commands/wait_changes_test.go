package commands

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// observing is a session that reports when it is observed.
type observing struct {
	simulated
	observed func()
}

func (o observing) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	o.observed()
	return o.simulated.Observe(ctx, into, facets)
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
			g := roomy(t)
			g.denied, g.follower = tc.denied, nil
			g.cluster.Tick(time.Hour)
			var began, read time.Time // the first wait longer than the shortest one, and the end of it
			g.clock.onTimer = func(d time.Duration) (still bool) {
				if !began.IsZero() || d <= 2*time.Second {
					return false
				}
				began = g.clock.Now()
				if tc.changes && g.follower != nil {
					g.follower.changed(plan.Pods)
					return true
				}
				return false
			}
			g.connect = func() (session.Session, error) {
				return observing{simulated{g.cluster, g}, func() {
					if !began.IsZero() && read.IsZero() {
						read = g.clock.Now()
					}
				}}, nil
			}
			if code := g.run(g.inText("replace", "sample", "STORAGE0", "--wait", "--yes")...); code != exit.ExitDone {
				t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
			}
			if took := read.Sub(began); began.IsZero() || took > tc.most || took < tc.least {
				t.Errorf("it waited for %s, want %s to %s", took, tc.least, tc.most)
			}
			if watches := g.follower != nil; watches != (len(tc.denied) == 0) {
				t.Errorf("it watches: %t", watches)
			}
			if g.follower != nil && (!g.follower.stopped || g.follower.facets != plan.ClusterResource|plan.Pods|plan.Volumes) {
				t.Errorf("stopped %t, followed %s", g.follower.stopped, g.follower.facets)
			}
			if g.follower == nil && strings.Contains(g.err.String(), "watch") {
				t.Errorf("it speaks of watching: %s", &g.err)
			}
		})
	}
}
