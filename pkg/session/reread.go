package session

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Reread opens a cluster once for a command that reads it repeatedly, and keeps an fdbcli open in it. Between two
// reads it polls the database for changes, which are hints: what is shown comes from a whole read.
type Reread struct {
	env     *Env
	connect func(context.Context, types.NamespacedName) (Session, error)

	mu     sync.Mutex
	opened *rereadSession // nil before the first read
	end    func()
}

// RereadCluster has an environment open a cluster once, until End is called. All other clusters are opened as often as
// before.
func RereadCluster(e *Env, key types.NamespacedName) *Reread {
	r := &Reread{env: e, connect: e.Connect, end: func() {}}
	if e.dumped != nil { // what a dump has does not change
		return r
	}
	e.Connect = func(ctx context.Context, other types.NamespacedName) (Session, error) {
		if other != key {
			return r.connect(ctx, other)
		}
		return r.open(ctx, key)
	}
	return r
}

// End closes what was kept open.
func (r *Reread) End() {
	r.env.Connect = r.connect
	r.end()
}

func (r *Reread) open(ctx context.Context, key types.NamespacedName) (Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opened != nil {
		return r.opened, nil
	}
	opened, err := r.connect(ctx, key)
	if err != nil {
		return nil, err
	}
	r.opened = &rereadSession{Session: opened}
	if poller, can := opened.(DatabasePoller); can {
		r.end = poller.KeepOpen()
		r.opened.poll = &DatabasePoll{Poller: poller, Clock: r.env.Clock}
	}
	return r.opened, nil
}

// Until returns a wait of the given time, which a change in the database ends early.
func (r *Reread) Until(d time.Duration) Wakeup {
	end := r.env.Clock.Now().Add(d)
	w := Wakeup{Due: func() time.Time { return end }}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opened == nil || r.opened.poll == nil {
		return w
	}
	w.Poll = func(ctx context.Context) time.Duration {
		changed, after := r.opened.poll.Next(ctx)
		if changed {
			end = r.env.Clock.Now()
		}
		return after
	}
	return w
}

// rereadSession remembers the database as it was read last.
type rereadSession struct {
	Session
	poll *DatabasePoll // nil where the session cannot poll
}

// Observe implements reconcile.Observer.
func (s *rereadSession) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	err := s.Session.Observe(ctx, into, facets)
	if s.poll != nil && facets&plan.Database != 0 {
		s.poll.Last = into.Database.Status
		if err != nil {
			s.poll.Last = nil
		}
	}
	return err
}

// DatabasePoll compares the database with what was read of it last. It decides nothing.
type DatabasePoll struct {
	Poller DatabasePoller
	Clock  clock.PassiveClock
	// Last is the status document that was read last; nil where that is unknown.
	Last *fdb.Status
}

// pollShare is how many times longer than a poll took the pause after it is at least: of a database with a thousand
// processes, a document takes part of a second.
const pollShare = 5

// Next polls once. Without an answer there is no next poll, after is 0: the next read takes another way.
func (p *DatabasePoll) Next(ctx context.Context) (changed bool, after time.Duration) {
	began := p.Clock.Now()
	now, ok := p.Poller.PollDatabase(ctx)
	if !ok {
		return false, 0
	}
	changed = p.Last != nil && now.ChangedSince(p.Last)
	p.Last = now
	return changed, max(PollInterval, pollShare*p.Clock.Since(began))
}
