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
	// leastGap is how far apart two looks are at least, however often something changes.
	leastGap = 500 * time.Millisecond
	// patienceForOneFrame is how long one half of a look waits for the other, so that one
	// look makes one frame where both are quick.
	patienceForOneFrame = 300 * time.Millisecond
	// sampleGap is how far apart the looks are that rates of exclusions are made of.
	sampleGap = 10 * time.Second
)

// eye keeps looking at one cluster, and makes frames of what it sees. One goroutine owns
// it; each source is asked beside that, one question at a time, so that none can keep
// others from being asked or shown.
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
	showBy                                         time.Time // when to show what is new at the latest; zero for nothing new

	seen         plan.Snapshot // what Kubernetes told last; a nil Cluster before it did
	gone         bool          // the cluster was deleted
	lease        ui.Lease
	readAt       map[plan.Facet]time.Time
	rung         plan.Facet // what changed since it was read
	told         plan.DatabaseFacts
	coordination plan.CoordinationFacts
	sharedAt     time.Time
	unread       string // why exclusions or locks could not be read
	happened     []corev1.Event
	plan         *ui.PlanView
	why          *ui.WhyReport
	history      *ui.DrainHistory
	backedUp     *ui.ClusterBackupsView
	found        *ui.ClusterBackups // the same, for what is in the way
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

// follow looks until the context ends. Nothing that does not answer keeps it from ending.
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

// ask asks every source whose time has come.
func (e *eye) ask(ctx context.Context) {
	now := e.env.Clock.Now()
	if e.kubernetes.isDue(now) {
		e.askKubernetes(ctx, now)
	}
	if e.seen.Cluster == nil {
		return // nobody knows whom to ask
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

// databaseTold reports whether the database answered, or was found not to.
func (e *eye) databaseTold() bool { return e.told.Status != nil || e.told.Why() != "" }

// await waits for an answer, a change, or the time for the next question.
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

// beside asks a question beside everything else. What it returns takes the answer over.
func (e *eye) beside(ctx context.Context, question func() (apply func())) {
	e.workers.Go(func() {
		apply := question()
		select {
		case e.answers <- apply:
		case <-ctx.Done():
		}
	})
}

// heard notes what changed, and has it looked at soon.
func (e *eye) heard() {
	what := e.bell.heard()
	e.rung |= what
	e.deaf.end(what)
	e.kubernetes.sooner(e.kubernetes.last.Add(leastGap))
}

// hurry has everything asked now.
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

// untilNext is how long nothing has to be done.
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
