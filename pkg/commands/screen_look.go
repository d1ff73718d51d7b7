package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

const (
	// followedAnew is after how long objects are listed again whose changes are told: what
	// is told is only a hint.
	followedAnew = time.Minute
	// unfollowedAnew is the same for those whose changes nobody tells.
	unfollowedAnew = 10 * time.Second
	// sharedAnew is after how long locks and exclusions are read again while no process
	// group is on its way out.
	sharedAnew = 10 * time.Second
)

// deafness is what nobody tells changes of: those are listed more often.
type deafness struct {
	mu   sync.Mutex
	what plan.Facet
}

func (d *deafness) add(what plan.Facet) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.what |= what
}

func (d *deafness) end(what plan.Facet) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.what &^= what
}

func (d *deafness) is(what plan.Facet) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.what&what != 0
}

// askKubernetes reads the record, and of the objects what changed or was read long ago.
func (e *eye) askKubernetes(ctx context.Context, now time.Time) {
	e.kubernetes.begin(now)
	facets, seen := e.stale(now), e.seen
	e.rung = 0
	e.beside(ctx, func() func() {
		err := e.session.Observe(ctx, &seen, facets)
		lease := observation{env: e.env, key: e.key}.lease(ctx)
		return func() {
			e.lease = lease
			e.tookKubernetes(ctx, seen, facets, err)
		}
	})
}

// stale are the parts of Kubernetes to read now. Nodes are not followed as they are
// needed here: a Follower tells of their taints alone.
func (e *eye) stale(now time.Time) plan.Facet {
	facets := plan.Record
	if e.rung&plan.Pods != 0 {
		facets |= plan.Nodes
	}
	for _, f := range []plan.Facet{plan.Pods, plan.Volumes, plan.Services, plan.ConfigMap, plan.Nodes} {
		most := followedAnew
		if f == plan.Nodes || e.deaf.is(f) {
			most = unfollowedAnew
		}
		if e.rung&f != 0 || now.Sub(e.readAt[f]) >= most {
			facets |= f
		}
	}
	return facets
}

func (e *eye) tookKubernetes(ctx context.Context, seen plan.Snapshot, facets plan.Facet, err error) {
	now := e.env.Clock.Now()
	missing := new(*live.NotFoundError)
	e.gone = errors.As(err, missing)
	if err != nil {
		e.rung |= facets
		e.kubernetes.end(now, time.Time{}, explain(err))
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
	e.follower.Follow(ctx, seen.Cluster)
	e.showWith(&e.database)
}

// askDatabase reads one status document, which all that a frame tells of the database is
// made of, and now and then what instances share.
func (e *eye) askDatabase(ctx context.Context, now time.Time) {
	e.database.begin(now)
	seen, shared, unread := e.seen, e.coordination, ""
	old := now.Sub(e.sharedAt) >= sharedAnew
	e.beside(ctx, func() func() {
		err := e.session.Observe(ctx, &seen, plan.Database)
		readAt := time.Time{}
		if err == nil && seen.Database.Available() && (old || anyLeaves(seen)) {
			readAt = now
			shared, unread = readCoordination(ctx, e.session)
		}
		return func() {
			if !readAt.IsZero() {
				e.coordination, e.unread, e.sharedAt = shared, unread, readAt
			}
			e.tookDatabase(seen.Database, err)
		}
	})
}

func (e *eye) tookDatabase(told plan.DatabaseFacts, err error) {
	if err != nil {
		told = plan.DatabaseFacts{Unreachable: explain(err)}
	}
	if !told.Available() { // nobody can tell any more what is excluded and locked
		e.coordination, e.sharedAt, e.unread = plan.CoordinationFacts{}, time.Time{}, ""
	}
	e.told = told
	e.database.end(e.env.Clock.Now(), told.AsOf, told.Unreachable)
	e.showWith(&e.kubernetes)
}

// anyLeaves reports whether any process is on its way out, so that how far it is matters
// now.
func anyLeaves(s plan.Snapshot) bool {
	for _, p := range s.Database.Status.ProcessList() {
		if p.IsExcluded() {
			return true
		}
	}
	return slices.ContainsFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool { return g.IsMarkedForRemoval() || g.IsExcluded() })
}

// readCoordination reads exclusions and what instances share. What cannot be read is
// unread, and says why.
func readCoordination(ctx context.Context, r Reader) (facts plan.CoordinationFacts, unread string) {
	shared, sharedErr := r.ReadShared(ctx)
	lists, listsErr := r.ReadExclusions(ctx)
	shared.ExclusionsRead, shared.Exclusions = lists.ExclusionsRead, lists.Exclusions
	shared.FailedExclusions, shared.InProgressExclusions = lists.FailedExclusions, lists.InProgressExclusions
	if sharedErr != nil {
		unread = "what instances share could not be read: " + explain(sharedErr)
	}
	if listsErr != nil {
		unread = "exclusions could not be read: " + explain(listsErr)
	}
	return shared, unread
}

func (e *eye) askEvents(ctx context.Context, now time.Time) {
	e.events.begin(now)
	e.beside(ctx, func() func() {
		c, err := e.env.Client()
		if err != nil {
			return func() { e.events.end(e.env.Clock.Now(), time.Time{}, explain(err)) }
		}
		events, err := eventsIn(ctx, c, e.key.Namespace)
		return func() {
			now := e.env.Clock.Now()
			if err != nil {
				e.events.end(now, time.Time{}, explain(err))
				return
			}
			e.happened = events
			e.events.end(now, now, "")
			e.showSoon(patienceForOneFrame)
		}
	})
}

// askBackups looks at backups and restores. What cannot be read is in what was seen; each
// question to a pod of agents has a limit of its own.
func (e *eye) askBackups(ctx context.Context, now time.Time) {
	e.backups.begin(now)
	e.beside(ctx, func() func() {
		found, err := backupsLook{env: e.env, key: e.key, histories: e.ofRestores}.look(ctx)
		return func() {
			now := e.env.Clock.Now()
			if err != nil {
				e.backups.end(now, time.Time{}, explain(err))
				return
			}
			e.found, e.backedUp = &found, new(ui.NewClusterBackupsView(found, now, e.ofBackups))
			e.backups.end(now, now, "")
			e.showSoon(patienceForOneFrame)
		}
	})
}

// currentDatabase is what may still be said of the database at a time. An answer that the
// next question has waited too long for is no answer any more: what was available may not
// be so now. That it was down holds for longer, since such a database takes up to 19 s to
// say so again.
func currentDatabase(told plan.DatabaseFacts, asked *asking, now time.Time) plan.DatabaseFacts {
	const downFor = 40 * time.Second
	waited := now.Sub(asked.askedAt)
	switch {
	case asked.askedAt.IsZero(), waited < slowDatabase, told.Status == nil && told.Why() != "":
		return told
	case told.Status != nil && !told.Available() && now.Sub(told.AsOf) < downFor:
		return told
	}
	return plan.DatabaseFacts{Unreachable: fmt.Sprintf("no answer from the database for %s, still asking", waited.Truncate(time.Second))}
}
