package apply

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// changes watches the objects of a cluster between the passes of a command that waits, so that
// a pod that is ready or gone ends the wait at once. They are hints: without the permission to
// watch, and for all that is no object, the wait ends by time.
type changes struct {
	env      *session.Env
	resource *v1beta2.FoundationDBCluster // as the last pass read it; nil before
	notifier *session.ChangeNotifier      // nil until the first wait, and where the user may not watch
	follower session.Follower
	tried    bool
}

// followedWhileWaiting are the facets whose changes end a wait: what Kubernetes and users change.
// ConfigMaps and services are changed by passes alone.
const followedWhileWaiting = plan.ClusterResource | plan.Pods | plan.Volumes

// report remembers which cluster the pass is about.
func (c *changes) report(e reconcile.Event) {
	if o, ok := e.(reconcile.Observed); ok && c != nil && o.Facets&plan.ClusterResource != 0 && o.Snapshot.Cluster != nil {
		c.resource = o.Snapshot.Cluster
	}
}

// follow begins to watch, once, if the user may.
func (c *changes) follow(ctx context.Context) {
	if c.tried || c.resource == nil {
		return
	}
	c.tried = true
	key := client.ObjectKeyFromObject(c.resource)
	api, err := c.env.Client()
	if err != nil {
		return
	}
	missing, err := session.MissingPermissions(ctx, api, key.Namespace, session.WaitPermissions())
	if err != nil || len(missing) > 0 {
		return
	}
	notifier := session.NewChangeNotifier()
	follower, err := c.env.Follow(key, followedWhileWaiting, notifier.Notify, func(plan.Facet, error) {})
	if err != nil {
		return
	}
	c.notifier, c.follower = notifier, follower
	c.follower.Follow(ctx, c.resource)
}

func (c *changes) stop() {
	if c.follower != nil {
		c.follower.Stop()
	}
}

// wait waits until the next pass is due: after d, or earlier when something changed.
func (p *pacing) wait(ctx context.Context, d time.Duration, reason string) error {
	ending := endingOf(p.Last, p.kept)
	if p.changes == nil || d <= p.Interval || ending == pace.Held { // changes are another run's then
		return p.Env.Waiting().Pause(ctx, d, reason)
	}
	p.changes.follow(ctx)
	if p.changes.notifier == nil {
		return p.Env.Waiting().Pause(ctx, d, reason)
	}
	alarm := pace.NewAlarm(p.Env.Clock.Now(), pace.Wait{AtLeast: p.Interval, AtMost: d, AfterEdit: p.Interval})
	return p.Env.Waiting().PauseUntil(ctx, session.Wakeup{
		Due: alarm.Due, News: p.changes.notifier.Ready,
		OnNews: func() { alarm.Changed(p.Env.Clock.Now(), p.changes.notifier.Take()&plan.ClusterResource != 0) },
	}, reason)
}
