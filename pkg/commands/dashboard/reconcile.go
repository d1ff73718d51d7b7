package dashboard

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/flags"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
)

// ReconcilingFeed is a feed that also runs passes, like reconcile --watch.
type ReconcilingFeed struct {
	tui.Feed
	Actions *ScreenActions
	once    sync.Once

	mu  sync.Mutex
	err error // why passes ended before the user quit
}

// Follow implements tui.Feed.
func (r *ReconcilingFeed) Follow(ctx context.Context, cluster string, send func(tui.Entry)) {
	r.once.Do(func() {
		r.Actions.running.Go(func() { r.run(ctx, cluster, send) })
	})
	r.Feed.Follow(ctx, cluster, send)
}

// run runs passes until the user quits. If passes cannot run, the TUI reports that and
// continues.
func (r *ReconcilingFeed) run(left context.Context, cluster string, send func(tui.Entry)) {
	env := r.Actions.env.Beside(&capturedOutput{})
	env.Observer = r.Actions.observer(env, tui.Ask{Cluster: cluster}, send)
	ctx, stop := untilLeft(left)
	defer stop()
	key := types.NamespacedName{Namespace: r.Actions.namespace, Name: cluster}
	o := apply.ReconcileOptions{ChangeFlags: screenFlags(), WatchFlags: apply.WatchFlags{Watch: true, Resync: pace.DefaultResync, Telemetry: flags.Telemetry}}
	list, err := o.Stages()
	if err == nil {
		change := apply.Change{ChangeFlags: o.ChangeFlags, Args: o.Args(cluster), Stages: list, Permissions: o.Permissions()}
		err = reconcile.Guarded(func() error { return apply.WatchOver(ctx, env, key, change, o.WatchFlags) })
	}
	interrupted := new(*exit.InterruptedError)
	if err == nil || errors.As(err, interrupted) {
		return
	}
	env.Observer.Document(ui.NewError(env.Metadata(key), exit.Code(err), exit.Explain(err), nil))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// End returns why passes ended before the user quit; nil if they did not.
func (r *ReconcilingFeed) End() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
