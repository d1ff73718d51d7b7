package commands

import (
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// changeNotifier collects changed facets for a receiver. notify never blocks.
type changeNotifier struct {
	// ready is full while there are pending changes.
	ready chan struct{}

	mu             sync.Mutex
	pending        plan.Facet // since they were last taken
	duringInterval plan.Facet // since the last interval ended
}

func newChangeNotifier() *changeNotifier { return &changeNotifier{ready: make(chan struct{}, 1)} }

func (b *changeNotifier) notify(what plan.Facet) {
	b.mu.Lock()
	b.pending |= what
	b.duringInterval |= what
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default: // already ready
	}
}

// take returns the pending facets and clears them.
func (b *changeNotifier) take() plan.Facet {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.pending
	b.pending = 0
	return news
}

// facets returns all that changed during an interval.
func (b *changeNotifier) facets() plan.Facet {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.duringInterval
	b.duringInterval = b.pending
	return all
}

// troubleInterval is the minimum interval between reports of the same problem.
const troubleInterval = 10 * time.Minute

// reported remembers when a problem was last reported.
type reported struct {
	mu   sync.Mutex
	last map[plan.Facet]time.Time
}

func newReported() *reported { return &reported{last: map[plan.Facet]time.Time{}} }

// due reports whether to report a problem again, and counts it as reported.
func (s *reported) due(what plan.Facet, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, said := s.last[what]; said && now.Sub(last) < troubleInterval {
		return false
	}
	s.last[what] = now
	return true
}
