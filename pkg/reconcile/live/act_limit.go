package live

import (
	"context"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// actLimit bounds an action without a limit of its own. The longest, creating a database with
// all its read-backs, takes up to 75 s for the command and as long again until the status
// shows it.
const actLimit = 4 * time.Minute

// during is the context of an action. One that lasts long ends with the Lease as well: from
// then on another run may act.
func (w *World) during(ctx context.Context, a plan.Action) (context.Context, context.CancelFunc) {
	atMost := plan.EffectOf(a).AtMost
	if atMost == 0 {
		return context.WithTimeout(ctx, actLimit)
	}
	ctx, cut := context.WithCancelCause(ctx)
	ctx, cancel := context.WithTimeout(ctx, atMost)
	w.mu.Lock()
	held := w.lease
	w.mu.Unlock()
	go func() {
		select {
		case <-held.stopped:
			cut(held.lost)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); cut(context.Canceled) }
}
