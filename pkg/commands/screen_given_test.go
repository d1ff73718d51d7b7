package commands

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/monitor"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// gazed is a cluster that a screen looks at, in a bubble of time in which questions may
// take theirs.
type gazed struct {
	*given

	mu        sync.Mutex
	hangs     plan.Facet // facets without an answer
	fails     error      // what reading the record meets
	requested map[plan.Facet]int
	entries   []tui.Entry
}

// gaze runs a test over a reconciled cluster.
func gaze(t *testing.T, test func(g *gazed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &gazed{given: up(t), requested: map[plan.Facet]int{}}
		g.now = clock.RealClock{}
		g.connect = func() (session.Session, error) { return busySession{simulated{g.cluster, g.given}, g}, nil }
		test(g)
	})
}

// follow has a feed follow the cluster until the test ends it.
func (g *gazed) follow(interval time.Duration) (feed *monitor.ScreenFeed, end func()) {
	g.t.Helper()
	ctx, cancel := context.WithCancel(g.t.Context())
	feed = &monitor.ScreenFeed{Env: g.environment(), Namespace: "fdb", Interval: interval}
	var running sync.WaitGroup
	running.Go(func() { feed.Follow(ctx, "sample", g.take) })
	return feed, func() { cancel(); running.Wait() }
}

func (g *gazed) take(e tui.Entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.entries = append(g.entries, e)
}

// after is the newest frame once a while has passed.
func (g *gazed) after(d time.Duration) frame.Frame {
	g.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.entries) == 0 {
		g.t.Fatalf("no frame after %s", d)
	}
	return *g.entries[len(g.entries)-1].Frame
}

// times is how often a facet was read since the last call.
func (g *gazed) times(f plan.Facet) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.requested[f]
	g.requested[f] = 0
	return n
}

func (g *gazed) hang(f plan.Facet) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hangs = f
}

func (g *gazed) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fails = err
}

// change changes the cluster state between reads.
func (g *gazed) change(edit func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	edit()
}

// busySession is a session that several may ask at once, and that may keep them waiting.
type busySession struct {
	simulated
	g *gazed
}

func (s busySession) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	for _, f := range []plan.Facet{plan.ClusterResource, plan.Pods, plan.Nodes, plan.Database, plan.PodFiles} {
		if facets&f != 0 {
			s.g.requested[f]++
		}
	}
	if s.g.hangs&facets != 0 {
		s.g.mu.Unlock()
		<-ctx.Done()
		s.g.mu.Lock()
		return ctx.Err()
	}
	if facets&plan.ClusterResource != 0 && s.g.fails != nil {
		return s.g.fails
	}
	return s.simulated.Observe(ctx, into, facets)
}

func (s busySession) ReadExclusions(ctx context.Context) (plan.CoordinationFacts, error) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return s.simulated.ReadExclusions(ctx)
}

func (s busySession) ReadShared(ctx context.Context) (plan.CoordinationFacts, error) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return s.simulated.ReadShared(ctx)
}
