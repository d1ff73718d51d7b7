package apply

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// changes sees between the passes of a command that waits what the next one may find changed: objects of the cluster,
// which are watched, and the database, which is polled through an fdbcli that stays open. They are hints, and end the
// wait early: without the permission to watch, and for all that neither shows, it ends by time.
type changes struct {
	env      *session.Env
	resource *v1beta2.FoundationDBCluster   // as the last pass read it; nil before
	read     map[plan.Facet][]client.Object // what is watched, as the last pass read it
	database *fdb.Status                    // as the last pass read it last; nil where that is unknown
	poller   session.DatabasePoller         // nil where the session cannot poll
	notifier *session.ChangeNotifier
	follower session.Follower // nil until the first wait, and where the user may not watch
	tried    bool
}

// newChanges begins to keep an fdbcli open, if the command waits and the session can.
func newChanges(p *Passes) (c *changes, stop func()) {
	c = &changes{env: p.Env, notifier: session.NewChangeNotifier(), read: map[plan.Facet][]client.Object{}}
	closeSession := func() {}
	if poller, can := p.Session.(session.DatabasePoller); can && p.Wait {
		c.poller, closeSession = poller, poller.KeepOpen()
	}
	return c, func() {
		if c.follower != nil {
			c.follower.Stop()
		}
		closeSession()
	}
}

// followedWhileWaiting are the facets whose changes end a wait: what Kubernetes and users change.
// ConfigMaps and services are changed by passes alone.
const followedWhileWaiting = plan.ClusterResource | plan.Pods | plan.Volumes

// report remembers which cluster the pass is about, and what it has read of that.
func (c *changes) report(e reconcile.Event) {
	o, ok := e.(reconcile.Observed)
	if !ok || c == nil {
		return
	}
	if o.Facets&plan.ClusterResource != 0 && o.Snapshot.Cluster != nil {
		c.resource = o.Snapshot.Cluster
		c.read[plan.ClusterResource] = []client.Object{c.resource}
	}
	if o.Facets&plan.Pods != 0 {
		c.read[plan.Pods] = objectsOf(o.Snapshot.Pods)
	}
	if o.Facets&plan.Volumes != 0 {
		c.read[plan.Volumes] = objectsOf(o.Snapshot.Volumes)
	}
}

func objectsOf[T client.Object](byName map[string]T) []client.Object {
	objects := make([]client.Object, 0, len(byName))
	for _, o := range byName {
		objects = append(objects, o)
	}
	return objects
}

// after remembers the database as a pass knew it at its end.
func (c *changes) after(read lastRead) {
	if c != nil {
		c.database = read.database.Status
		if !read.known {
			c.database = nil
		}
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
	follower, err := c.env.Follow(key, followedWhileWaiting, c.notifier.Notify, func(plan.Facet, error) {})
	if err != nil {
		return
	}
	c.follower = follower
	for facet, read := range c.read {
		c.follower.Since(facet, read)
	}
	c.follower.Follow(ctx, c.resource)
}

// pollShare is how many times longer than a poll took the pause after it is at least: of a database with a thousand
// processes, a document takes part of a second.
const pollShare = 5

// poll compares the database with what the last pass has read, and reports a change. Without an answer it ends: the
// next pass reads in another way.
func (c *changes) poll(ctx context.Context) (after time.Duration) {
	began := c.env.Clock.Now()
	now, ok := c.poller.PollDatabase(ctx)
	if !ok {
		return 0
	}
	if c.database != nil && now.ChangedSince(c.database) {
		c.notifier.Notify(plan.Database)
	}
	c.database = now
	return max(session.PollInterval, pollShare*c.env.Clock.Since(began))
}

// wait waits until the next pass is due: after d, or earlier when something changed.
func (p *pacing) wait(ctx context.Context, d time.Duration, reason string) error {
	ending := endingOf(p.Last, p.kept)
	if p.changes == nil || d <= p.Interval || ending == pace.Held { // changes are another run's then
		return p.Env.Waiting().Pause(ctx, d, reason)
	}
	p.changes.follow(ctx)
	alarm := pace.NewAlarm(p.Env.Clock.Now(), pace.Wait{AtLeast: p.Interval, AtMost: d, AfterEdit: p.Interval})
	wakeup := session.Wakeup{
		Due: alarm.Due, News: p.changes.notifier.Ready,
		OnNews: func() { alarm.Changed(p.Env.Clock.Now(), p.changes.notifier.Take()&plan.ClusterResource != 0) },
	}
	if p.changes.poller != nil {
		wakeup.Poll = p.changes.poll
	}
	return p.Env.Waiting().PauseUntil(ctx, wakeup, reason)
}
