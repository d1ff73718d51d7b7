package monitor

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const (
	// minGap is the minimum interval between two reads, however often something changes.
	minGap = 500 * time.Millisecond
	// frameDelay is how long one half of a read waits for the other, so that one read
	// causes one frame if both are quick.
	frameDelay = 300 * time.Millisecond
	// previewGap is the minimum interval between two previews.
	previewGap = 5 * time.Second
	// sampleGap is the interval between the samples that rates of exclusions are computed from.
	sampleGap = 10 * time.Second
)

// poller continuously reads one cluster, and builds frames of it. One goroutine owns it; each
// source is queried concurrently, one query at a time, so that none delays the others or the
// display.
type poller struct {
	env      *session.Env
	key      types.NamespacedName
	interval time.Duration
	show     func(frame.Frame)
	refresh  <-chan struct{}

	session   session.Session
	follower  session.Follower
	notifier  *session.ChangeNotifier
	unwatched *unwatched

	answers chan func()
	workers sync.WaitGroup
	showBy  time.Time // deadline to show news; zero if there are none

	*observed
}

// observed is what was read of one cluster. Another cluster of the same name begins without any of it.
type observed struct {
	kubernetes, database, events, preview, backups SourceState

	seen          plan.Snapshot // last read from Kubernetes; the Cluster is nil before
	deleted       bool          // the cluster was deleted
	lease         inspect.Lease
	readAt        map[plan.Facet]time.Time
	changedFacets plan.Facet // facets that changed since they were read
	outdated      bool       // something changed since the preview
	databaseFacts plan.DatabaseFacts
	coordination  plan.CoordinationFacts
	sharedAt      time.Time
	unread        string // why exclusions or locks could not be read
	eventList     []corev1.Event
	runs          []inspect.Run // those that Events record
	plan          *planned.PlanView
	foresight     foresight
	why           *why.Report
	history       *inspect.DrainHistory
	reports       inspect.ReportHistory
	// earlierLoad and lastLoad are loads of frames before, some seconds apart; nil before the first.
	earlierLoad, lastLoad *workload.View
	backupsView           *inspect.ClusterBackupsView
	backupsFound          *inspect.ClusterBackups // the same, with what blocks them
	ofBackups             *inspect.BackupHistory
	ofRestores            map[string]*inspect.RestoreHistory
	conditions            session.ConditionClock
}

func newPoller(env *session.Env, key types.NamespacedName, interval time.Duration, refresh <-chan struct{}, show func(frame.Frame)) *poller {
	return &poller{
		env: env, key: key, interval: interval, show: show, refresh: refresh, notifier: session.NewChangeNotifier(), unwatched: &unwatched{}, answers: make(chan func()),
		observed: newObserved(interval),
	}
}

func newObserved(interval time.Duration) *observed {
	return &observed{
		kubernetes: SourceState{name: frame.SourceOfKubernetes, every: interval},
		database:   SourceState{name: frame.SourceOfDatabase, every: interval},
		events:     SourceState{name: frame.SourceOfEvents, every: max(interval, eventsInterval)},
		preview:    SourceState{name: frame.SourceOfPreview, every: max(interval, previewInterval)},
		backups:    SourceState{name: frame.SourceOfBackups, every: max(interval, backupsInterval)},
		ofBackups:  &inspect.BackupHistory{}, ofRestores: map[string]*inspect.RestoreHistory{},
		readAt: map[plan.Facet]time.Time{}, history: &inspect.DrainHistory{Gap: sampleGap},
	}
}

// follow polls until the context ends. A source that does not answer does not delay that.
func (e *poller) follow(ctx context.Context) {
	defer e.workers.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end() // also of a panic: workers would wait for their answers to be taken
	if err := e.open(ctx); err != nil {
		e.kubernetes.problem = exit.Explain(err)
		e.show(e.frame())
		return
	}
	defer e.follower.Stop()
	if kept, can := e.session.(session.DatabasePoller); can {
		closeReads := kept.KeepOpen()
		defer func() { end(); closeReads() }() // which waits for the read that is outstanding
	}
	for ctx.Err() == nil {
		e.ask(ctx)
		e.await(ctx)
		e.showWhatIsDue()
	}
}

func (e *poller) open(ctx context.Context) (err error) {
	if e.session, err = e.env.Connect(ctx, e.key); err != nil {
		return err
	}
	e.session.ReadNodes()
	e.follower, err = e.env.Follow(e.key, session.AskKubernetes, e.notifier.Notify, func(f plan.Facet, _ error) { e.unwatched.add(f) })
	return err
}

// ask queries every source that is due.
func (e *poller) ask(ctx context.Context) {
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
	if e.preview.isDue(now) && e.databaseKnown() {
		e.askPreview(ctx, now)
	}
}

// databaseKnown reports whether the database answered, or was found unreachable.
func (e *poller) databaseKnown() bool {
	return e.databaseFacts.Status != nil || e.databaseFacts.Why() != ""
}

// await waits for an answer, a change, or the next query.
func (e *poller) await(ctx context.Context) {
	timer := e.env.Clock.NewTimer(e.untilNext())
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case apply := <-e.answers:
		apply()
	case <-e.notifier.Ready:
		e.changed()
	case <-e.refresh:
		e.hurry()
	case <-timer.C():
	}
}

// beside runs a query concurrently. The function that it returns applies the answer, unless that is of a cluster whose place
// another one has taken meanwhile. If the query panics, the function does: a goroutine of its own would end the program
// without restoring the terminal.
func (e *poller) beside(ctx context.Context, question func() (apply func())) {
	of := e.observed
	e.workers.Go(func() {
		var apply func()
		fault := reconcile.Guarded(func() error { apply = question(); return nil })
		select {
		case e.answers <- func() {
			if fault != nil {
				panic(fault)
			}
			if of == e.observed {
				apply()
			}
		}:
		case <-ctx.Done():
		}
	})
}

// changed records what changed, and makes it due soon.
func (e *poller) changed() {
	what := e.notifier.Take()
	e.changedFacets |= what
	e.unwatched.end(what)
	e.outdated = true
	e.kubernetes.sooner(e.kubernetes.last.Add(minGap))
}

// hurry makes all sources due now.
func (e *poller) hurry() {
	now := e.env.Clock.Now()
	e.changedFacets = session.AskKubernetes
	for _, a := range e.sources() {
		a.sooner(now)
	}
}

func (e *poller) sources() []*SourceState {
	return []*SourceState{&e.kubernetes, &e.database, &e.events, &e.preview, &e.backups}
}

// untilNext returns how long there is nothing to do.
func (e *poller) untilNext() time.Duration {
	now := e.env.Clock.Now()
	next := now.Add(e.kubernetes.every)
	for _, a := range e.sources() {
		if a.queriedAt.IsZero() && a.due.After(now) && a.due.Before(next) {
			next = a.due
		}
	}
	if !e.showBy.IsZero() && e.showBy.Before(next) {
		next = e.showBy
	}
	if late := e.database.queriedAt.Add(session.SlowDatabase); late.After(now) && late.Before(next) {
		next = late
	}
	return max(next.Sub(now), time.Millisecond)
}

// The intervals of the dashboard between two queries of one source that do not depend on
// --interval.
const (
	eventsInterval  = 15 * time.Second
	previewInterval = 15 * time.Second
	// backupsInterval exceeds that of the database: each query runs a tool in a pod per backup,
	// and one for all restores.
	backupsInterval = 20 * time.Second
	// LongestBackOff bounds the backoff after errors.
	LongestBackOff = 30 * time.Second
)

// SourceState is the state of one source of facts that is polled continuously.
type SourceState struct {
	name string
	// every is the interval between queries without errors.
	every time.Duration

	asOf      time.Time // of the last answer; zero before the first
	queriedAt time.Time // start of the pending query; zero if none
	last      time.Time // start of the last query
	due       time.Time // start of the next query
	problem   string    // why the last query failed
	// unauthorized is whether that was because of the credentials.
	unauthorized bool
	// took is how long the last answer took.
	took time.Duration
	// failures counts failed queries since the last answer.
	failures int
}

// slowAPIServer is how long a read of Kubernetes takes of an API server that is slow.
const slowAPIServer = 3 * time.Second

// isSlow reports whether the pending query waits, or the last one waited, for a slow API server.
func (a *SourceState) isSlow(now time.Time) bool {
	return a.took >= slowAPIServer || !a.queriedAt.IsZero() && now.Sub(a.queriedAt) >= slowAPIServer
}

func (a *SourceState) isDue(now time.Time) bool { return a.queriedAt.IsZero() && !now.Before(a.due) }

func (a *SourceState) Begin(now time.Time) { a.queriedAt, a.last = now, now }

// end records an answer as of a time, or the error instead of one.
func (a *SourceState) end(now, asOf time.Time, problem string) {
	a.queriedAt, a.problem, a.took, a.unauthorized = time.Time{}, problem, now.Sub(a.last), false
	if problem == "" {
		a.asOf, a.failures = asOf, 0
		a.due = later(a.last.Add(a.every), now.Add(a.every/4)) // also spaces the queries of a slow source
		return
	}
	a.failures++
	a.due = now.Add(a.backOff())
}

// backOff returns the interval after failures, which doubles with each.
func (a *SourceState) backOff() time.Duration {
	interval := a.every
	for range a.failures - 1 {
		interval *= 2
		if interval >= LongestBackOff {
			break
		}
	}
	return max(a.every, min(interval, LongestBackOff))
}

// sooner brings the next query forward to a time.
func (a *SourceState) sooner(at time.Time) {
	if at.Before(a.due) {
		a.due = at
	}
}

// source returns the source as a frame shows it.
func (a *SourceState) source() frame.Source {
	return frame.NewSource(a.name, a.asOf, a.queriedAt, a.problem)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
