package commands

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/monitor"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/fleet"
)

// A cluster that cannot be read stays in the list with the reason, and with its last status.
func TestTheClusterListShowsUnreadableClustersWithTheReason(t *testing.T) {
	gaze(t, func(g *gazed) {
		t := g.t
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var last fleet.List
		var running sync.WaitGroup
		f := &monitor.Fleet{Env: g.environment(), Interval: 2 * time.Second}
		running.Go(func() {
			f.FollowAll(ctx, func(l fleet.List) { mu.Lock(); defer mu.Unlock(); last = l })
		})
		only := func(after time.Duration) fleet.Cluster {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if len(last.Clusters) != 1 {
				t.Fatalf("%d clusters: %s", len(last.Clusters), last.Problem)
			}
			return last.Clusters[0]
		}
		if c := only(time.Second); c.Namespace != "fdb" || c.Name != "sample" || c.Unread != "" || c.Status == nil || c.Status.State != inspect.StateHealthy {
			t.Errorf("%+v", c)
		}
		g.fail(errors.New("no route to host"))
		if c := only(20 * time.Second); !strings.Contains(c.Unread, "no route to host") || c.Status == nil {
			t.Errorf("a cluster that cannot be read: %+v", c)
		}
		g.fail(nil)
		if c := only(20 * time.Second); c.Unread != "" || c.Changed == nil {
			t.Errorf("a cluster that can be read again: %+v", c)
		}
		cancel()
		running.Wait()
	})
}

func TestWatchPlainPrintsNamespacesWithAllNamespaces(t *testing.T) {
	gaze(t, func(g *gazed) {
		if code := g.watchPlain(nil, "watch", "-A", "--plain"); code != exit.ExitInterrupted {
			g.t.Errorf("exit code %d: %s", code, &g.err)
		}
		if !strings.Contains(g.out.String(), " fdb/sample: Healthy: ") {
			g.t.Errorf("%s%s", &g.out, &g.err)
		}
	})
}
