package evictionhook

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Acts runs an Actor in the background, once at a time for each cluster: the API server waits for
// an answer for seconds, and a replacement takes minutes.
type Acts struct {
	actor  Actor
	clock  clock.PassiveClock
	report func(Eviction, error)
	ending chan struct{} // closed once nothing may begin any more

	mu      sync.Mutex
	running map[types.NamespacedName]bool
	ended   map[types.NamespacedName]time.Time
	wait    sync.WaitGroup
}

// actPause is the least time between two runs for one cluster: whoever drains tries again after
// 5 s, for every pod.
const actPause = 10 * time.Second

// NewActs returns Acts that run until Stop. Report receives every end; nil reports nothing.
func NewActs(actor Actor, c clock.PassiveClock, report func(Eviction, error)) *Acts {
	return &Acts{actor: actor, clock: c, report: report, ending: make(chan struct{}), running: map[types.NamespacedName]bool{}, ended: map[types.NamespacedName]time.Time{}}
}

// start acts for an eviction, unless an earlier run for the cluster is under way or has just ended.
// It reports whether a run is under way. The run outlives ctx, that of the request.
func (a *Acts) start(ctx context.Context, e Eviction, refused []plan.Check) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch ended, before := a.ended[e.Cluster]; {
	case a.ends():
		return false
	case a.running[e.Cluster]:
		return true
	case before && a.clock.Since(ended) < actPause:
		return true // the next request goes on with it
	}
	a.running[e.Cluster] = true
	a.wait.Add(1)
	go a.run(context.WithoutCancel(ctx), e, slices.Clone(refused))
	return true
}

func (a *Acts) ends() bool {
	select {
	case <-a.ending:
		return true
	default:
		return false
	}
}

func (a *Acts) run(ctx context.Context, e Eviction, refused []plan.Check) {
	defer a.wait.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-a.ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := a.actor.Act(ctx, e, refused)
	a.mu.Lock()
	delete(a.running, e.Cluster)
	a.ended[e.Cluster] = a.clock.Now()
	a.mu.Unlock()
	if a.report != nil {
		a.report(e, err)
	}
}

// Stop ends what runs, and returns once it has ended.
func (a *Acts) Stop() {
	a.mu.Lock()
	if !a.ends() {
		close(a.ending)
	}
	a.mu.Unlock()
	a.wait.Wait()
}
