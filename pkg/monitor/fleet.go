package monitor

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/entries"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/fleet"
)

const (
	// fleetInterval is the interval between two reads of all clusters, if --interval is shorter.
	fleetInterval = 10 * time.Second
	// fleetLimit bounds the read of one cluster: longer than what is read through its pods, without which
	// the rest is shown.
	fleetLimit = session.ViewLimit + 15*time.Second
)

// Fleet reads the clusters of a namespace, or of all namespaces, for the list of the dashboard.
// A cluster that does not answer delays no other.
type Fleet struct {
	Env *session.Env
	// Namespace is empty for all namespaces.
	Namespace string
	// Names are the clusters to list; nil for all of the namespace.
	Names    []string
	Interval time.Duration

	mu      sync.Mutex
	list    fleet.List
	reading map[types.NamespacedName]bool
}

var _ fleet.Source = (*Fleet)(nil)

// FollowAll implements fleet.Source.
func (f *Fleet) FollowAll(ctx context.Context, send func(fleet.List)) {
	var workers sync.WaitGroup
	defer workers.Wait()
	places := make(chan struct{}, session.ParallelReads)
	send(f.current())
	for ctx.Err() == nil {
		for _, key := range f.due(ctx, send) {
			workers.Go(func() {
				defer f.ended(key)
				select {
				case places <- struct{}{}:
					defer func() { <-places }()
				case <-ctx.Done():
					return
				}
				f.took(ctx, f.read(ctx, key), send)
			})
		}
		timer := f.Env.Clock.NewTimer(max(f.Interval, fleetInterval))
		select {
		case <-timer.C():
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

func (f *Fleet) current() fleet.List {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list
}

// due lists the clusters, and returns those that are not being read already.
func (f *Fleet) due(ctx context.Context, send func(fleet.List)) []types.NamespacedName {
	clusters, err := f.listed(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Env.Clock.Now()
	if err != nil {
		if ctx.Err() == nil {
			f.list.Problem = exit.Explain(err)
			send(f.list)
		}
		return nil
	}
	f.list = f.list.Known(clusters, now)
	send(f.list)
	if f.reading == nil {
		f.reading = map[types.NamespacedName]bool{}
	}
	var due []types.NamespacedName
	for _, c := range clusters {
		if key := (types.NamespacedName{Namespace: c.Namespace, Name: c.Name}); !f.reading[key] {
			f.reading[key] = true
			due = append(due, key)
		}
	}
	return due
}

// listed returns the clusters in the order of their namespaces and names.
func (f *Fleet) listed(ctx context.Context) ([]fleet.Cluster, error) {
	c, err := f.Env.Client()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, fleetLimit)
	defer cancel()
	found, err := session.ClustersIn(limited, c, f.Namespace)
	if err != nil {
		return nil, err
	}
	var clusters []fleet.Cluster
	for _, r := range found {
		if f.Names == nil || slices.Contains(f.Names, r.Name) {
			clusters = append(clusters, fleet.Cluster{Namespace: r.Namespace, Name: r.Name})
		}
	}
	stable.Sort(clusters, func(a, b fleet.Cluster) int { return strings.Compare(a.Key(""), b.Key("")) })
	return clusters, nil
}

// read returns the status of a cluster, or why it cannot be read.
func (f *Fleet) read(ctx context.Context, key types.NamespacedName) fleet.Cluster {
	c := fleet.Cluster{Namespace: key.Namespace, Name: key.Name}
	limited, cancel := context.WithTimeoutCause(ctx, fleetLimit, errors.New("no answer within "+fleetLimit.String()))
	defer cancel()
	err := reconcile.Guarded(func() error {
		facts, err := session.ClusterReader{Env: f.Env, Key: key}.Facts(limited)
		if err == nil {
			c.Status, c.AsOf = new(inspect.NewStatusView(f.Env.Metadata(key), facts)), new(f.Env.Clock.Now())
		}
		return err
	})
	if err != nil {
		c.Unread = exit.Explain(exit.CauseOf(limited, err))
	}
	return c
}

func (f *Fleet) took(ctx context.Context, c fleet.Cluster, send func(fleet.List)) {
	if ctx.Err() != nil {
		return // the list is no longer displayed
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = f.list.Read(c, f.Env.Clock.Now())
	send(f.list)
}

func (f *Fleet) ended(key types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.reading, key)
}

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
