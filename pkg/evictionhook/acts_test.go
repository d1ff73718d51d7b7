package evictionhook

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// counting is an Actor that runs until it is ended.
type counting struct {
	mu      sync.Mutex
	acted   []Eviction
	refused [][]plan.Check
	began   chan struct{} // receives when an act begins; nil never
	goOn    chan struct{} // an act ends when it receives or ctx ends; nil ends at once
	ended   []error
}

func (c *counting) Act(ctx context.Context, e Eviction, refused []plan.Check) error {
	c.mu.Lock()
	c.acted, c.refused = append(c.acted, e), append(c.refused, refused)
	c.mu.Unlock()
	if c.began != nil {
		c.began <- struct{}{}
	}
	if c.goOn != nil {
		select {
		case <-c.goOn:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, ctx.Err())
	return ctx.Err()
}

func (c *counting) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.acted)
}

func TestTheEvictionWebhookActsOnOneDeniedEvictionAtATime(t *testing.T) {
	g := newGiven(t)
	g.decider.decide = says(refuses)
	actor := &counting{began: make(chan struct{}, 9), goOn: make(chan struct{})}
	ended := make(chan Eviction, 9)
	g.hook.Actor = NewActs(actor, g.clock, func(e Eviction, _ error) { ended <- e })
	defer g.hook.Actor.Stop()
	ask := func(pod string) {
		t.Helper()
		if r := g.review(request(pod)); r.Allowed || !g.last().Acts || !strings.HasSuffix(r.Result.Message, "; the eviction webhook works on it") {
			t.Errorf("%+v, %+v", r.Result, g.last())
		}
	}
	ask("sample-storage-1")
	<-actor.began
	ask("sample-storage-1")
	ask("sample-storage-2")
	if actor.count() != 1 {
		t.Errorf("acts %d times at once", actor.count())
	}
	actor.goOn <- struct{}{}
	if e := <-ended; e.Pod != "sample-storage-1" || e.Cluster.Name != "sample" || actor.refused[0][0].ID != refuses.ID {
		t.Errorf("acted for %+v, %+v", e, actor.refused)
	}
	ask("sample-storage-2") // right after the end
	if actor.count() != 1 {
		t.Error("acts without a pause")
	}
	g.clock.Step(actPause)
	ask("sample-storage-2")
	<-actor.began
	if actor.count() != 2 {
		t.Error("does not go on")
	}
	actor.goOn <- struct{}{}
	<-ended
}

func TestTheEvictionWebhookActsOnlyOnDenials(t *testing.T) {
	g := newGiven(t)
	actor := &counting{}
	g.hook.Actor = NewActs(actor, g.clock, nil)
	g.review(request("sample-storage-1")) // allowed
	g.review(request("sample-storage-2")) // busy
	g.decider.decide = says()
	g.review(request("sample-storage-1")) // unknown
	g.hook.Actor.Stop()
	if actor.count() != 0 {
		t.Errorf("acted for %+v", actor.acted)
	}
	g.decider.decide = says(refuses)
	if g.review(request("sample-storage-1")); g.last().Acts || actor.count() != 0 {
		t.Error("acts after its end")
	}
}

func TestWebhookActionsContinueAfterTheRequestAndEndOnStop(t *testing.T) {
	g := newGiven(t)
	g.decider.decide = says(refuses)
	actor := &counting{began: make(chan struct{}, 1), goOn: make(chan struct{})}
	g.hook.Actor = NewActs(actor, g.clock, nil)
	ctx, cancel := context.WithCancel(t.Context())
	g.hook.Review(ctx, request("sample-storage-1"))
	<-actor.began
	cancel() // the request is over, and the act is not
	if len(actor.ended) > 0 {
		t.Error("an act ends with the request that began it")
	}
	g.hook.Actor.Stop()
	g.hook.Actor.Stop() // twice is once
	if len(actor.ended) != 1 || actor.ended[0] == nil {
		t.Errorf("ended with %v", actor.ended)
	}
}
