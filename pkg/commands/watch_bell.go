package commands

import (
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// bell collects what changed until somebody listens. Ringing it never waits.
type bell struct {
	// rings has something in it while there is news.
	rings chan struct{}

	mu   sync.Mutex
	news plan.Facet // since it was last heard
	all  plan.Facet // since the last rest was over
}

func newBell() *bell { return &bell{rings: make(chan struct{}, 1)} }

func (b *bell) ring(what plan.Facet) {
	b.mu.Lock()
	b.news |= what
	b.all |= what
	b.mu.Unlock()
	select {
	case b.rings <- struct{}{}:
	default: // it rings already
	}
}

// heard returns the news and forgets it.
func (b *bell) heard() plan.Facet {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.news
	b.news = 0
	return news
}

// facets are all that changed during a rest.
func (b *bell) facets() plan.Facet {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.all
	b.all = b.news
	return all
}

// troubleInterval is how often trouble with the same thing is said at most.
const troubleInterval = 10 * time.Minute

// spoken remembers when trouble with something was last said.
type spoken struct {
	mu   sync.Mutex
	last map[plan.Facet]time.Time
}

func newSpoken() *spoken { return &spoken{last: map[plan.Facet]time.Time{}} }

// due reports whether it is time to say it again, and takes it as said.
func (s *spoken) due(what plan.Facet, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, said := s.last[what]; said && now.Sub(last) < troubleInterval {
		return false
	}
	s.last[what] = now
	return true
}
