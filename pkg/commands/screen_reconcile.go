package commands

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// reconcilingFeed is a feed that also runs passes, like reconcile --watch.
type reconcilingFeed struct {
	tui.Feed
	actions *screenActions
	once    sync.Once

	mu  sync.Mutex
	err error // why passes ended before the user quit
}

// Follow implements tui.Feed.
func (r *reconcilingFeed) Follow(ctx context.Context, cluster string, send func(tui.Entry)) {
	r.once.Do(func() {
		r.actions.running.Go(func() { r.run(ctx, cluster, send) })
	})
	r.Feed.Follow(ctx, cluster, send)
}

// run runs passes until the user quits. If passes cannot run, the TUI reports that and
// continues.
func (r *reconcilingFeed) run(left context.Context, cluster string, send func(tui.Entry)) {
	captured := &capturedOutput{}
	env := r.actions.env.beside(captured)
	env.observer = r.actions.observer(env, tui.Ask{Cluster: cluster}, captured, send)
	ctx, stop := untilLeft(left)
	defer stop()
	key := types.NamespacedName{Namespace: r.actions.namespace, Name: cluster}
	o := reconcileOptions{changeFlags: screenFlags(false), watchFlags: watchFlags{watch: true, resync: pace.DefaultResync}}
	list, err := o.stages()
	if err == nil {
		err = env.watchOver(ctx, key, change{changeFlags: o.changeFlags, words: o.words(cluster), stages: list, permissions: o.permissions()}, o.watchFlags)
	}
	interrupted := new(*InterruptedError)
	if err == nil || errors.As(err, interrupted) {
		return
	}
	env.observer.document(ui.NewError(env.metadata(key), ExitCode(err), explain(err), nil))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// end returns why passes ended before the user quit; nil if they did not.
func (r *reconcilingFeed) end() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
