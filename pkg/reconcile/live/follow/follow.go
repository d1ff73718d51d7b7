// Package follow watches the objects of a cluster for changes.
package follow

import (
	"context"
	"errors"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Follower reports when the objects of a cluster change, so that a watch need not poll. It
// stores no objects, and its reports are hints: a pass observes for itself, and a watch that
// missed a change reads again after its resync interval.
type Follower struct {
	// Client watches. Its requests must not have a limit: a watch lasts for minutes.
	Client client.WithWatch
	// Key names the custom resource.
	Key types.NamespacedName
	// Facets are the facets whose changes count. Only those that are
	// Kubernetes objects can be followed.
	Facets plan.Facet
	// Changed is called with the facet of a changed object, from several goroutines.
	Changed func(plan.Facet)
	// Problem is called with the reason why a facet cannot be followed; retries continue.
	Problem func(plan.Facet, error)

	known     map[plan.Facet][]client.Object // what was read before the next watches begin
	following []subject                      // the subjects of the running watches
	stop      context.CancelFunc
	running   sync.WaitGroup
}

// Follow watches the objects that belong to the given cluster. Called again, it changes nothing
// unless other objects belong to the cluster now. The watches end with the context, or with Stop.
func (f *Follower) Follow(ctx context.Context, c *v1beta2.FoundationDBCluster) {
	desired := slices.DeleteFunc(subjectsOf(f.Key, c), func(s subject) bool { return s.facet&f.Facets == 0 })
	if f.stop != nil && slices.EqualFunc(desired, f.following, subject.same) {
		return
	}
	f.Stop()
	ctx, f.stop = context.WithCancel(ctx)
	f.following = desired
	for _, s := range desired {
		reflector := cache.NewReflectorWithOptions(f.listerWatcher(s), nil, f.marks(s), cache.ReflectorOptions{Name: s.facet.String()})
		f.running.Go(func() { reflector.RunWithContext(ctx) })
	}
}

// Since states the objects of a facet as the caller has read them: what has changed when the watch begins is reported.
// Without it, the watch begins with what it finds.
func (f *Follower) Since(facet plan.Facet, read []client.Object) {
	if f.known == nil {
		f.known = map[plan.Facet][]client.Object{}
	}
	f.known[facet] = read
}

// Stop ends the watches and returns once they have ended.
func (f *Follower) Stop() {
	if f.stop == nil {
		return
	}
	f.stop()
	f.running.Wait()
	f.stop = nil
}

func (f *Follower) marks(s subject) *marks {
	m := &marks{of: s.mark, changed: func() { f.Changed(s.facet) }}
	if read, known := f.known[s.facet]; known {
		m.seen = m.marksOf(read)
		delete(f.known, s.facet)
	}
	return m
}

func (f *Follower) listerWatcher(s subject) plainLists {
	return plainLists{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list := s.list()
			err := f.Client.List(ctx, list, s.options(o))
			f.report(ctx, s.facet, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := f.Client.Watch(ctx, s.list(), s.options(o))
			f.report(ctx, s.facet, err)
			return w, err
		},
	}}
}

func (f *Follower) report(ctx context.Context, facet plan.Facet, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		f.Problem(facet, err)
	}
}

// plainLists makes reflectors list, then watch. Streaming lists are for thousands of objects,
// and API servers and proxies before Kubernetes 1.32 may not support them.
type plainLists struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is called by reflectors.
func (plainLists) IsWatchListSemanticsUnSupported() bool { return true }
