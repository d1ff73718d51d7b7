package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// witness stands between one pass and the cluster. It notes in which order things were
// observed, taken and done, asks the invariants about every action, and makes happen
// what troubles a plugin at work.
type witness struct {
	h *History

	mu      sync.Mutex
	arrived *sync.Cond
	// begun are the actions that the engine started and that are still to run, in order.
	begun []reconcile.ActionStarted

	moments   int  // that something was noted at
	lease     int  // the moment at which the Lease was taken; 0 when it was not
	lock      int  // the same of the lock
	robbed    bool // another control-plane instance took the lock away since
	seen      map[plan.Facet]int
	recovered time.Duration // since the last recovery, when the database was observed
	blind     plan.Facet    // what was not observed again since something went wrong
	refused   string        // why the pass may not do anything; empty when it may
	dead      bool
	die       context.CancelFunc
}

func newWitness(h *History, die context.CancelFunc) *witness {
	k := &witness{h: h, die: die, seen: map[plan.Facet]int{}}
	k.arrived = sync.NewCond(&k.mu)
	return k
}

func (k *witness) moment() int {
	k.moments++
	return k.moments
}

// Observe implements reconcile.Observer.
func (k *witness) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.h.noAnswer(); err != nil {
		return err
	}
	now := k.moment()
	for f := plan.Facet(1); f <= plan.Everything; f <<= 1 {
		if facets&f != 0 {
			k.seen[f] = now
		}
	}
	age := k.h.recoveredFor()
	err := k.h.w.Observe(ctx, into, facets)
	k.blind &^= facets
	if facets&plan.Database != 0 {
		k.recovered = max(age, k.h.recoveredFor()) // the document was created in between
	}
	return err
}

// Begin implements reconcile.Actor.
func (k *witness) Begin(ctx context.Context) error {
	if err := k.h.noAnswer(); err != nil {
		return err
	}
	err := k.h.w.Begin(ctx)
	if err != nil {
		k.refused = err.Error()
		return err
	}
	k.lease = k.moment()
	return nil
}

// Lock implements reconcile.Actor.
func (k *witness) Lock(ctx context.Context) error {
	k.h.overtaken(ctx)
	if err := k.h.noAnswer(); err != nil {
		return err
	}
	if err := k.h.w.Lock(ctx); err != nil {
		return err
	}
	k.lock, k.robbed = k.moment(), false
	return nil
}

// End implements reconcile.Actor. A run that was killed releases nothing, and neither does one without an API server: its Lease
// has to expire.
func (k *witness) End(ctx context.Context) error {
	if k.dead || k.h.noAnswer() != nil {
		k.h.leaveLease()
	}
	return k.h.w.End(ctx)
}

// gates refuse a pass while an operator is at work, and while the clock is wrong.
func (k *witness) gates(context.Context) ([]plan.Check, error) {
	if clock := k.h.w.Clock().Check(); !clock.OK {
		k.refused = clock.Evidence
		return []plan.Check{clock}, nil
	}
	if !k.h.operator {
		return nil, nil
	}
	k.refused = "an operator manages the cluster"
	return []plan.Check{{ID: plan.CheckNoOperator, Question: "is no live operator at work?", Gate: plan.GateOperator, Evidence: k.refused}}, nil
}

// report keeps the order in which the engine starts actions that may run at the same
// time, so that a history is the same whenever it is played.
func (k *witness) report(e reconcile.Event) {
	if started, ok := e.(reconcile.ActionStarted); ok {
		k.mu.Lock()
		k.begun = append(k.begun, started)
		k.mu.Unlock()
		k.arrived.Broadcast()
	}
	if done, ok := e.(reconcile.ActionDone); ok && errors.Is(done.Err, errOver) {
		return // how many actions were on their way at the end is up to the scheduler
	}
	k.h.report(e)
}

// Act implements reconcile.Actor.
func (k *witness) Act(ctx context.Context, a plan.Action) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.begun) == 0 || !isSame(k.begun[0].Action, a) {
		k.arrived.Wait()
	}
	stage := k.begun[0].Stage
	defer func() {
		k.begun = k.begun[1:]
		k.arrived.Broadcast()
	}()
	return k.act(ctx, stage, a)
}

// arrive lets happen what goes wrong before an action.
func (k *witness) arrive(stage plan.StageName, a plan.Action) {
	if k.h.arriving != nil && k.h.arriving(Step{k.h.passes, stage, plan.KindOf(a)}, plan.GroupsOf(a)) {
		k.blind = plan.Everything
	}
}

// isSame reports whether two actions of a pass that were started at the same time are one: such actions create objects
// of different process groups.
func isSame(a, b plan.Action) bool {
	return plan.KindOf(a) == plan.KindOf(b) && a.Subject() == b.Subject()
}

var errOver = errors.New("the history is over")

func (k *witness) act(ctx context.Context, stage plan.StageName, a plan.Action) error {
	h := k.h
	if k.dead || h.violated() {
		k.die()
		return errOver
	}
	k.arrive(stage, a)
	if h.crashes(len(h.w.Acted) + 1) {
		k.dead = true
		k.die()
		return sim.ErrCrashed
	}
	k.robbed = k.robbed || h.loseLock(len(h.w.Acted)+1)
	if err := h.refuses(a); err != nil {
		return err
	}
	if !h.exists() {
		return h.w.Act(ctx, a)
	}
	d := &deed{k: k, stage: stage, action: a, before: h.truth()}
	if h.judge(beforeAction, d); h.violated() {
		k.die()
		return errOver
	}
	first, revert, half := h.halved(a)
	if err := h.w.Act(ctx, first); err != nil {
		return err
	}
	revert()
	d.after = h.truth()
	h.noteDepartures(d)
	if h.judge(afterAction, d); half {
		return errInTheMiddle
	}
	return h.loses(a)
}

// readBy are the facets that a stage reads.
func (k *witness) readBy(stage plan.StageName) plan.Facet {
	i := slices.IndexFunc(k.h.stages, func(s plan.Stage) bool { return s.Name == stage })
	return k.h.stages[i].Reads
}

// olderThan names what a stage reads that was last observed before a moment.
func (k *witness) olderThan(moment int, stage plan.StageName) plan.Facet {
	var old plan.Facet
	reads := k.readBy(stage)
	for f := plan.Facet(1); f <= plan.Everything; f <<= 1 {
		if reads&f != 0 && k.seen[f] < moment {
			old |= f
		}
	}
	return old
}

// deed is one action, and the truth right before and right after it.
type deed struct {
	k             *witness
	stage         plan.StageName
	action        plan.Action
	before, after truth
}

// isBlind reports whether something went wrong after the pass observed what the deed was decided by: only what comes of
// it can be judged.
func (d *deed) isBlind() bool { return d != nil && d.k.blind&(plan.Pods|plan.Database) != 0 }

func (d *deed) String() string { return fmt.Sprintf("%s: %s", d.stage, d.action.Describe()) }
