package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/audit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const (
	// rereadFollowed is the interval at which watched objects are listed again: watch events
	// are only hints.
	rereadFollowed = time.Minute
	// rereadUnfollowed is the interval for objects that are not watched.
	rereadUnfollowed = 10 * time.Second
	// rereadShared is the interval at which locks and exclusions are read while no process
	// group is draining.
	rereadShared = 10 * time.Second
)

// unwatched holds the facets that cannot be watched: those are listed more often.
type unwatched struct {
	mu   sync.Mutex
	what plan.Facet
}

func (d *unwatched) add(what plan.Facet) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.what |= what
}

func (d *unwatched) end(what plan.Facet) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.what &^= what
}

func (d *unwatched) is(what plan.Facet) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.what&what != 0
}

// askKubernetes reads the resource, and the objects that changed or were read long ago.
func (e *poller) askKubernetes(ctx context.Context, now time.Time) {
	e.kubernetes.Begin(now)
	facets, seen := e.stale(now), e.seen
	e.changedFacets = 0
	e.beside(ctx, func() func() {
		err := e.session.Observe(ctx, &seen, facets)
		lease := session.ClusterReader{Env: e.env, Key: e.key}.Lease(ctx)
		return func() {
			e.lease = lease
			e.tookKubernetes(ctx, seen, facets, err)
		}
	})
}

// stale returns the facets of Kubernetes to read now. Nodes count as unwatched here: a Follower
// only reports changes of their taints.
func (e *poller) stale(now time.Time) plan.Facet {
	facets := plan.ClusterResource
	if e.changedFacets&plan.Pods != 0 {
		facets |= plan.Nodes
	}
	for _, f := range []plan.Facet{plan.Pods, plan.Volumes, plan.Services, plan.ConfigMap, plan.Nodes} {
		most := rereadFollowed
		if f == plan.Nodes || e.unwatched.is(f) {
			most = rereadUnfollowed
		}
		if e.changedFacets&f != 0 || now.Sub(e.readAt[f]) >= most {
			facets |= f
		}
	}
	return facets
}

func (e *poller) tookKubernetes(ctx context.Context, seen plan.Snapshot, facets plan.Facet, err error) {
	now := e.env.Clock.Now()
	missing := new(*live.NotFoundError)
	e.deleted = errors.As(err, missing)
	if err != nil {
		e.changedFacets |= facets
		e.kubernetes.end(now, time.Time{}, exit.Explain(err))
		e.kubernetes.unauthorized = apierrors.IsUnauthorized(err)
		e.showSoon(0)
		return
	}
	if before := e.seen.Cluster; before != nil && before.UID != seen.Cluster.UID {
		e.observed = newObserved(e.interval) // what was read besides the resource can be of the one before
		e.showSoon(0)
		return
	}
	e.kubernetes.end(now, seen.Now, "")
	e.seen = seen
	for _, f := range []plan.Facet{plan.Pods, plan.Volumes, plan.Services, plan.ConfigMap, plan.Nodes} {
		if facets&f != 0 {
			e.readAt[f] = now
		}
	}
	if e.outdated { // now that the change was read
		e.outdated = false
		e.preview.sooner(later(now, e.preview.last.Add(previewGap)))
	}
	e.follower.Follow(ctx, seen.Cluster)
	e.showWith(&e.database)
}

// askDatabase reads one status document, the source of all that a frame shows of the database,
// and sometimes the shared state of control-plane instances.
func (e *poller) askDatabase(ctx context.Context, now time.Time) {
	e.database.Begin(now)
	seen, shared, unread := e.seen, e.coordination, ""
	old := now.Sub(e.sharedAt) >= rereadShared
	e.beside(ctx, func() func() {
		limited, done := session.LimitedView(ctx)
		defer done()
		err := e.session.Observe(limited, &seen, plan.Database)
		if err != nil {
			err = exit.CauseOf(limited, err)
		}
		readAt := time.Time{}
		if err == nil && seen.Database.Available() && (old || anyDraining(seen)) {
			readAt = now
			shared, unread = readCoordination(limited, e.session)
		}
		return func() {
			if !readAt.IsZero() {
				e.coordination, e.unread, e.sharedAt = shared, unread, readAt
			}
			e.tookDatabase(seen.Database, err)
		}
	})
}

func (e *poller) tookDatabase(reported plan.DatabaseFacts, err error) {
	if err != nil {
		reported = plan.DatabaseFacts{Unreachable: exit.Explain(err), Forbidden: apierrors.IsForbidden(err)}
	}
	if !reported.Available() { // exclusions and locks are unknown now
		e.coordination, e.sharedAt, e.unread = plan.CoordinationFacts{}, time.Time{}, ""
	}
	e.databaseFacts = reported
	e.database.end(e.env.Clock.Now(), reported.AsOf, reported.Unreachable)
	e.showWith(&e.kubernetes)
}

// anyDraining reports whether any process is draining, so that exclusion progress matters now.
func anyDraining(s plan.Snapshot) bool {
	for _, p := range s.Database.Status.ProcessList() {
		if p.IsExcluded() {
			return true
		}
	}
	return slices.ContainsFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool { return g.IsMarkedForRemoval() || g.IsExcluded() })
}

// readCoordination reads exclusions and the shared state of control-plane instances. If that
// fails, unread has the reason.
func readCoordination(ctx context.Context, r session.Reader) (facts plan.CoordinationFacts, unread string) {
	shared, sharedErr := r.ReadShared(ctx)
	lists, listsErr := r.ReadExclusions(ctx)
	shared.ExclusionsRead, shared.Exclusions = lists.ExclusionsRead, lists.Exclusions
	shared.FailedExclusions, shared.InProgressExclusions = lists.FailedExclusions, lists.InProgressExclusions
	if sharedErr != nil {
		unread = "cannot read the shared state of control-plane instances: " + exit.Explain(exit.CauseOf(ctx, sharedErr))
	}
	if listsErr != nil {
		unread = "cannot read exclusions: " + exit.Explain(exit.CauseOf(ctx, listsErr))
	}
	return shared, unread
}

func (e *poller) askEvents(ctx context.Context, now time.Time) {
	e.events.Begin(now)
	e.beside(ctx, func() func() {
		c, err := e.env.Client()
		if err != nil {
			return func() { e.events.end(e.env.Clock.Now(), time.Time{}, exit.Explain(err)) }
		}
		events, err := session.EventsIn(ctx, c, e.key.Namespace)
		return func() {
			now := e.env.Clock.Now()
			if err != nil {
				e.events.end(now, time.Time{}, exit.Explain(err))
				return
			}
			e.eventList, e.runs = events, e.recordedRuns(events)
			e.events.end(now, now, "")
			e.showSoon(frameDelay)
		}
	})
}

// askBackups reads backups and restores. Errors are in the result; each query of an agent's pod
// has a timeout of its own.
func (e *poller) askBackups(ctx context.Context, now time.Time) {
	e.backups.Begin(now)
	reader := session.BackupsReader{Env: e.env, Key: e.key, Histories: e.ofRestores}
	e.beside(ctx, func() func() {
		found, err := reader.Read(ctx)
		return func() {
			now := e.env.Clock.Now()
			if err != nil {
				e.backups.end(now, time.Time{}, exit.Explain(err))
				return
			}
			e.backupsFound, e.backupsView = &found, new(inspect.NewClusterBackupsView(found, now, e.ofBackups))
			e.backups.end(now, now, "")
			e.showSoon(frameDelay)
		}
	})
}

// CurrentDatabase returns what is still valid of the database facts. Once the next query has
// taken too long, an earlier answer is void: an available database may have become unavailable.
// A down database counts as down for longer, since it takes up to 19 s to report that again.
//
// The database is queried through the API server. While that is slow or rejects the credentials, it is the reason, and not
// the database.
func CurrentDatabase(reported plan.DatabaseFacts, requested, kubernetes *SourceState, now time.Time) plan.DatabaseFacts {
	const downFor = 40 * time.Second
	waited := now.Sub(requested.queriedAt)
	switch {
	case reported.Unreachable != "" && kubernetes.unauthorized:
	case requested.queriedAt.IsZero(), waited < session.SlowDatabase, reported.Status == nil && reported.Why() != "":
		return reported
	case reported.Status != nil && !reported.Available() && now.Sub(reported.AsOf) < downFor:
		return reported
	}
	if kubernetes.unauthorized {
		return plan.DatabaseFacts{Unreachable: kubernetes.problem, Unasked: true}
	}
	if kubernetes.isSlow(now) {
		return plan.DatabaseFacts{Unreachable: fmt.Sprintf("no answer for %s, and the database is queried through it", waited.Truncate(time.Second)), Unasked: true}
	}
	return plan.DatabaseFacts{Unreachable: fmt.Sprintf("waiting for database status for %s", waited.Truncate(time.Second))}
}

// mostFinished is how many runs that have ended are shown: frames are recorded.
const mostFinished = 10

// recordedRuns returns the runs that Events of the cluster record, the newest first.
func (e *poller) recordedRuns(events []corev1.Event) []inspect.Run {
	if e.seen.Cluster == nil {
		return nil
	}
	var own []corev1.Event
	for _, event := range events {
		if event.InvolvedObject.Name == e.key.Name && event.InvolvedObject.Kind == "FoundationDBCluster" {
			own = append(own, event)
		}
	}
	return audit.Records{UID: e.seen.Cluster.UID, Events: own}.Runs()
}

// finished returns the runs that have ended: all but that of the active operation.
func (e *poller) finished() []frame.FinishedRun {
	var all []frame.FinishedRun
	for _, run := range e.runs {
		if o := e.lease.Operation; o != nil && e.lease.OperationActive && o.ID == run.RunID {
			continue
		}
		if len(all) == mostFinished {
			break
		}
		run.Since, run.Until, run.Steps = run.Since.UTC(), run.Until.UTC(), nil
		all = append(all, frame.FinishedRun{ID: run.RunID, Run: run})
	}
	return all
}
