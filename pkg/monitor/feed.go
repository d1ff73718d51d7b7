package monitor

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
)

// ScreenFeed sends clusters to a TUI.
type ScreenFeed struct {
	Env *session.Env
	// Namespace is that of clusters without one in their name.
	Namespace string
	Interval  time.Duration

	mu      sync.Mutex
	hurries []chan struct{} // one per running poller
}

var _ tui.Feed = (*ScreenFeed)(nil)

// Follow implements tui.Feed.
func (f *ScreenFeed) Follow(ctx context.Context, cluster string, send func(tui.Entry)) {
	hurry := make(chan struct{}, 1)
	f.mu.Lock()
	f.hurries = append(f.hurries, hurry)
	f.mu.Unlock()
	env, key := f.Env, entries.Key(cluster, f.Namespace)
	if key.Namespace != f.Namespace {
		env = env.Within(key.Namespace, io.Discard)
	}
	newPoller(env, key, f.Interval, hurry, func(v frame.Frame) {
		send(tui.Entry{At: f.Env.Clock.Now().UTC(), Cluster: cluster, Frame: &v})
	}).follow(ctx)
}

// Refresh implements tui.Feed.
func (f *ScreenFeed) Refresh() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, hurry := range f.hurries {
		select {
		case hurry <- struct{}{}:
		default: // a refresh is already pending
		}
	}
}
