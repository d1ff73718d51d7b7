package commandstest

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/monitor"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// GazeAtVault runs a test over a cluster with a backup that runs, and that a screen looks at.
func GazeAtVault(t *testing.T, test func(g *Gazed, v *Vault)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := NewVault(t)
		v.Must(exit.ExitDone, "", "reconcile", "fdbbackup/nightly", "--yes", "--wait")
		v.Cluster.FDB.Advance(time.Minute)
		v.Now = clock.RealClock{}
		test(&Gazed{Given: v.Given}, v)
	})
}

// Tools is how often a tool ran since this was called last.
func (v *Vault) Tools(name string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := 0
	for _, line := range v.Ran {
		if strings.Contains(line, name) {
			n++
		}
	}
	v.Ran = nil
	return n
}

// Gazed is a cluster that a screen looks at, in a bubble of time in which questions may
// take theirs.
type Gazed struct {
	*Given

	mu        sync.Mutex
	hangs     plan.Facet // facets without an answer
	fails     error      // what reading the resource meets
	requested map[plan.Facet]int
	Entries   []tui.Entry
}

// Gaze runs a test over a reconciled cluster.
func Gaze(t *testing.T, test func(g *Gazed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &Gazed{Given: Up(t), requested: map[plan.Facet]int{}}
		g.Now = clock.RealClock{}
		g.Connect = func() (session.Session, error) { return busySession{Simulated{g.Cluster, g.Given}, g}, nil }
		test(g)
	})
}

// Follow has a feed follow the cluster until the test ends it.
func (g *Gazed) Follow(interval time.Duration) (feed *monitor.ScreenFeed, end func()) {
	g.T.Helper()
	ctx, cancel := context.WithCancel(g.T.Context())
	feed = &monitor.ScreenFeed{Env: g.Environment(), Namespace: "fdb", Interval: interval}
	var running sync.WaitGroup
	running.Go(func() { feed.Follow(ctx, "sample", g.take) })
	return feed, func() { cancel(); running.Wait() }
}

func (g *Gazed) take(e tui.Entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Entries = append(g.Entries, e)
}

// After is the newest frame once a while has passed.
func (g *Gazed) After(d time.Duration) frame.Frame {
	g.T.Helper()
	time.Sleep(d)
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.Entries) == 0 {
		g.T.Fatalf("no frame after %s", d)
	}
	return *g.Entries[len(g.Entries)-1].Frame
}

// Times is how often a facet was read since the last call.
func (g *Gazed) Times(f plan.Facet) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.requested[f]
	g.requested[f] = 0
	return n
}

// Hang has reads of facets hang.
func (g *Gazed) Hang(f plan.Facet) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hangs = f
}

// Fail has all reads fail; nil ends that.
func (g *Gazed) Fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fails = err
}

// Change changes the cluster state between reads.
func (g *Gazed) Change(edit func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	edit()
}

// busySession is a session that several may ask at once, and that may keep them waiting.
type busySession struct {
	Simulated
	g *Gazed
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
	return s.Simulated.Observe(ctx, into, facets)
}

func (s busySession) ReadExclusions(ctx context.Context) (plan.CoordinationFacts, error) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return s.Simulated.ReadExclusions(ctx)
}

func (s busySession) ReadShared(ctx context.Context) (plan.CoordinationFacts, error) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return s.Simulated.ReadShared(ctx)
}

// WatchPlain runs a command line for a while, during which steps happen, and returns the
// exit code.
func (g *Gazed) WatchPlain(steps []func(), args ...string) int {
	g.T.Helper()
	ctx, cancel := context.WithCancelCause(g.T.Context())
	defer cancel(nil)
	code := make(chan int)
	go func() { code <- g.RunIn(ctx, args...) }()
	time.Sleep(5 * time.Second)
	for _, step := range steps {
		synctest.Wait()
		g.Change(step)
		time.Sleep(15 * time.Second)
	}
	cancel(&exit.InterruptedError{Signal: os.Interrupt})
	return <-code
}
