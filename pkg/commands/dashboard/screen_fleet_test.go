package dashboard_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/monitor"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/fleet"
)

// A cluster that cannot be read stays in the list with the reason, and with its last status.
func TestTheClusterListShowsUnreadableClustersWithTheReason(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		t := g.T
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var last fleet.List
		var running sync.WaitGroup
		f := &monitor.Fleet{Env: g.Environment(), Interval: 2 * time.Second}
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
		g.Fail(errors.New("no route to host"))
		if c := only(20 * time.Second); !strings.Contains(c.Unread, "no route to host") || c.Status == nil {
			t.Errorf("a cluster that cannot be read: %+v", c)
		}
		g.Fail(nil)
		if c := only(20 * time.Second); c.Unread != "" || c.Changed == nil {
			t.Errorf("a cluster that can be read again: %+v", c)
		}
		cancel()
		running.Wait()
	})
}

func TestWatchPlainPrintsNamespacesWithAllNamespaces(t *testing.T) {
	commandstest.Gaze(t, func(g *commandstest.Gazed) {
		if code := g.WatchPlain(nil, "watch", "-A", "--plain"); code != exit.ExitInterrupted {
			g.T.Errorf("exit code %d: %s", code, &g.Err)
		}
		if !strings.Contains(g.Out.String(), " fdb/sample: Available: ") {
			g.T.Errorf("%s%s", &g.Out, &g.Err)
		}
	})
}
