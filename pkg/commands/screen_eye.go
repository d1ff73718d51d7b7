package commands

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

const (
	// leastGap is the minimum interval between two reads, however often something changes.
	leastGap = 500 * time.Millisecond
	// patienceForOneFrame is how long one half of a read waits for the other, so that one read
	// causes one frame if both are quick.
	patienceForOneFrame = 300 * time.Millisecond
	// sampleGap is the interval between the samples that rates of exclusions are computed from.
	sampleGap = 10 * time.Second
)

// poller continuously reads one cluster, and builds frames of it. One goroutine owns it; each
// source is queried concurrently, one query at a time, so that none delays the others or the
// display.
type eye struct {
	env     *Env
	key     types.NamespacedName
	show    func(ui.Frame)
	refresh <-chan struct{}

	session  Session
	follower Follower
	bell     *bell
	deaf     *deafness

	kubernetes, database, events, preview, backups asking
	answers                                        chan func()
	workers                                        sync.WaitGroup
	showBy                                         time.Time // deadline to show news; zero if there are none

	seen         plan.Snapshot // last read from Kubernetes; the Cluster is nil before
	gone         bool          // the cluster was deleted
	lease        ui.Lease
	readAt       map[plan.Facet]time.Time
	rung         plan.Facet // facets that changed since they were read
	told         plan.DatabaseFacts
	coordination plan.CoordinationFacts
	sharedAt     time.Time
	unread       string // why exclusions or locks could not be read
	happened     []corev1.Event
	plan         *ui.PlanView
	why          *ui.WhyReport
	history      *ui.DrainHistory
	backedUp     *ui.ClusterBackupsView
	found        *ui.ClusterBackups // the same, with what blocks them
	ofBackups    *ui.BackupHistory
	ofRestores   map[string]*ui.RestoreHistory
	since        sinceMemory
}

func newEye(env *Env, key types.NamespacedName, interval time.Duration, refresh <-chan struct{}, show func(ui.Frame)) *eye {
	return &eye{
		env: env, key: key, show: show, refresh: refresh, bell: newBell(), deaf: &deafness{}, answers: make(chan func()),
		kubernetes: asking{name: ui.SourceOfKubernetes, every: interval},
		database:   asking{name: ui.SourceOfDatabase, every: interval},
		events:     asking{name: ui.SourceOfEvents, every: max(interval, eventsInterval)},
		preview:    asking{name: ui.SourceOfPreview, every: max(interval, previewInterval)},
		backups:    asking{name: ui.SourceOfBackups, every: max(interval, backupsInterval)},
		ofBackups:  &ui.BackupHistory{}, ofRestores: map[string]*ui.RestoreHistory{},
		readAt: map[plan.Facet]time.Time{}, history: &ui.DrainHistory{Gap: sampleGap},
	}
}

// follow polls until the context ends. A source that does not answer does not delay that.
func (e *eye) follow(ctx context.Context) {
	defer e.workers.Wait()
	if err := e.open(ctx); err != nil {
		e.kubernetes.trouble = explain(err)
		e.show(e.frame())
		return
	}
	defer e.follower.Stop()
	for ctx.Err() == nil {
		e.ask(ctx)
		e.await(ctx)
		e.showWhatIsDue()
	}
}

func (e *eye) open(ctx context.Context) (err error) {
	if e.session, err = e.env.Connect(ctx, e.key); err != nil {
		return err
	}
	e.session.ReadNodes()
	e.follower, err = e.env.Follow(e.key, askKubernetes, e.bell.ring, func(f plan.Facet, _ error) { e.deaf.add(f) })
	return err
}

// ask queries every source that is due.
func (e *eye) ask(ctx context.Context) {
	now := e.env.Clock.Now()
	if e.kubernetes.isDue(now) {
		e.askKubernetes(ctx, now)
	}
	if e.seen.Cluster == nil {
		return // the database cannot be reached before the cluster is read
	}
	if e.database.isDue(now) {
		e.askDatabase(ctx, now)
	}
	if e.events.isDue(now) {
		e.askEvents(ctx, now)
	}
	if e.backups.isDue(now) {
		e.askBackups(ctx, now)
	}
	if e.preview.isDue(now) && e.databaseTold() {
		e.askPreview(ctx, now)
	}
}

// databaseKnown reports whether the database answered, or was found unreachable.
func (e *eye) databaseTold() bool { return e.told.Status != nil || e.told.Why() != "" }

// await waits for an answer, a change, or the next query.
func (e *eye) await(ctx context.Context) {
	timer := e.env.Clock.NewTimer(e.untilNext())
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case apply := <-e.answers:
		apply()
	case <-e.bell.rings:
		e.heard()
	case <-e.refresh:
		e.hurry()
	case <-timer.C():
	}
}

// beside runs a query concurrently. The function that it returns applies the answer.
func (e *eye) beside(ctx context.Context, question func() (apply func())) {
	e.workers.Go(func() {
		apply := question()
		select {
		case e.answers <- apply:
		case <-ctx.Done():
		}
	})
}

// changed records what changed, and makes it due soon.
func (e *eye) heard() {
	what := e.bell.heard()
	e.rung |= what
	e.deaf.end(what)
	e.kubernetes.sooner(e.kubernetes.last.Add(leastGap))
}

// hurry makes all sources due now.
func (e *eye) hurry() {
	now := e.env.Clock.Now()
	e.rung = askKubernetes
	for _, a := range e.sources() {
		a.sooner(now)
	}
}

func (e *eye) sources() []*asking {
	return []*asking{&e.kubernetes, &e.database, &e.events, &e.preview, &e.backups}
}

// untilNext returns how long there is nothing to do.
func (e *eye) untilNext() time.Duration {
	now := e.env.Clock.Now()
	next := now.Add(e.kubernetes.every)
	for _, a := range e.sources() {
		if a.askedAt.IsZero() && a.due.After(now) && a.due.Before(next) {
			next = a.due
		}
	}
	if !e.showBy.IsZero() && e.showBy.Before(next) {
		next = e.showBy
	}
	if late := e.database.askedAt.Add(slowDatabase); late.After(now) && late.Before(next) {
		next = late
	}
	return max(next.Sub(now), time.Millisecond)
}
