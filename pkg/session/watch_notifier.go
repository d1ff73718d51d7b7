package session

import (
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ChangeNotifier collects changed facets for a receiver. notify never blocks.
type ChangeNotifier struct {
	// Ready is full while there are pending changes.
	Ready chan struct{}

	mu             sync.Mutex
	pending        plan.Facet // since they were last taken
	duringInterval plan.Facet // since the last interval ended
}

// NewChangeNotifier returns a notifier of changes.
func NewChangeNotifier() *ChangeNotifier { return &ChangeNotifier{Ready: make(chan struct{}, 1)} }

func (b *ChangeNotifier) Notify(what plan.Facet) {
	b.mu.Lock()
	b.pending |= what
	b.duringInterval |= what
	b.mu.Unlock()
	select {
	case b.Ready <- struct{}{}:
	default: // already ready
	}
}

// Take returns the pending facets and clears them.
func (b *ChangeNotifier) Take() plan.Facet {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.pending
	b.pending = 0
	return news
}

// Facets returns all that changed during an interval.
func (b *ChangeNotifier) Facets() plan.Facet {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.duringInterval
	b.duringInterval = b.pending
	return all
}

// ProblemInterval is the minimum interval between reports of the same problem.
const ProblemInterval = 10 * time.Minute

// Reported remembers when a problem was last reported.
type Reported struct {
	mu   sync.Mutex
	last map[plan.Facet]time.Time
}

// NewReported returns a memory of what was reported.
func NewReported() *Reported { return &Reported{last: map[plan.Facet]time.Time{}} }

// Due reports whether to report a problem again, and counts it as reported.
func (s *Reported) Due(what plan.Facet, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, output := s.last[what]; output && now.Sub(last) < ProblemInterval {
		return false
	}
	s.last[what] = now
	return true
}
