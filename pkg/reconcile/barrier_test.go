package reconcile_test

import (
	"context"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// barrier is a ledger that notices how many actions run at the same time.
type barrier struct {
	ledger
	mu            sync.Mutex
	running, most int
	arrived       chan string
}

func (b *barrier) Act(ctx context.Context, a plan.Action) error {
	b.mu.Lock()
	b.running++
	b.most = max(b.most, b.running)
	b.mu.Unlock()
	b.arrived <- a.Describe()
	for len(b.arrived) < 2 { // the first waits for a second; a serial engine would hang here
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Minute):
			return context.DeadlineExceeded
		case <-time.After(time.Millisecond):
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running--
	return b.ledger.Act(ctx, a)
}
