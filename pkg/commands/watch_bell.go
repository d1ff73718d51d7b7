package commands

import (
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// changeNotifier collects changed facets for a receiver. notify never blocks.
type bell struct {
	// ready is full while there are pending changes.
	rings chan struct{}

	mu   sync.Mutex
	news plan.Facet // since they were last taken
	all  plan.Facet // since the last interval ended
}

func newBell() *bell { return &bell{rings: make(chan struct{}, 1)} }

func (b *bell) ring(what plan.Facet) {
	b.mu.Lock()
	b.news |= what
	b.all |= what
	b.mu.Unlock()
	select {
	case b.rings <- struct{}{}:
	default: // already ready
	}
}

// take returns the pending facets and clears them.
func (b *bell) heard() plan.Facet {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.news
	b.news = 0
	return news
}

// facets returns all that changed during an interval.
func (b *bell) facets() plan.Facet {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.all
	b.all = b.news
	return all
}

// troubleInterval is the minimum interval between reports of the same problem.
const troubleInterval = 10 * time.Minute

// reported remembers when a problem was last reported.
type spoken struct {
	mu   sync.Mutex
	last map[plan.Facet]time.Time
}

func newSpoken() *spoken { return &spoken{last: map[plan.Facet]time.Time{}} }

// due reports whether to report a problem again, and counts it as reported.
func (s *spoken) due(what plan.Facet, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, said := s.last[what]; said && now.Sub(last) < troubleInterval {
		return false
	}
	s.last[what] = now
	return true
}
