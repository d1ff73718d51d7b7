// Package trial plays passes over simulated clusters while things go wrong, and judges every action by the truth of the
// simulation: invariants, what can go wrong, and what stands between a pass and the cluster.
package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// Violation is an invariant that did not hold.
type Violation struct {
	// Invariant is its code, Sentence what it promises, and Why what was wrong.
	Invariant, Sentence, Why string
}

// History is what happens to a simulated cluster, or to all that share a database, pass by pass.
type History struct {
	clusters []*sim.Cluster // of all control-plane instances that share the database
	w        *sim.Cluster   // of the one whose turn it is
	seed     uint64
	story    io.Writer // nil without a reader
	listen   func(reconcile.Event)
	change   mutation
	typeIn   func(*sim.Cluster, string) error // runs what a user types; nil without a user
	stages   []plan.Stage
	hashes   *plan.HashMemo
	passes   int

	// What troubles it now.
	operator      bool
	leaseEnds     time.Time // of a run that was killed
	crashAt       int       // the number of the action before which the plugin dies; 0 for none
	loseAt        int       // the number of the action before which the lock is lost; 0 for none
	failing       int       // how many actions fail before they do anything
	unheard       int       // how many actions are done and reported as failed
	halves        bool      // the next action of several requests ends after the first
	forbids       bool      // actions of the next kind are forbidden
	forbiddenKind string    // the kind; empty for none
	unreachable   int       // the pass until whose end the API server does not answer; 0 for none
	byHand        []string  // what a user excluded
	stale         bool      // status shows a former cluster state
	liesSince     int       // the pass in which the last of what is wrong with the database began
	full          bool      // no transaction of a client starts
	faster        bool      // the other control-plane instance acts before the lock is taken
	lost          *node
	cramped       bool                                      // the last pass asked for another fault domain for coordinators
	added         int                                       // how many storage groups a user added for them
	going         map[*sim.Cluster][]v1beta2.ProcessGroupID // groups that a pass asked a user to replace

	tried     map[*sim.Cluster]map[string]bool // pods taken down for an image that cannot be pulled, while the spec has it
	down      map[string]string                // nodes of the pods that are down by our hand
	buckets   map[string]string                // distribution keys that these had
	endings   map[*sim.Cluster]conclusion      // of the last pass of each
	records   map[*sim.Cluster]recorded        // what the last passes of each only recorded
	silent    map[string]time.Time             // since when the pods do not answer that do not
	departed  map[string]departure             // pods that went down by our hand and do not answer yet
	calm      bool                             // all troubles are over
	passError error
	holds     []plan.Hold // of the last pass

	// arriving is called before each pass and each action, with the process groups of the action, and reports whether
	// something went wrong there; nil for no call.
	arriving func(Step, []v1beta2.ProcessGroupID) bool
	aim      v1beta2.ProcessGroupID // what the next problem hits; empty to draw it
	single   bool                   // nothing else goes wrong in this history
	observed bool                   // the cluster was observed, and its nodes come back

	settling   bool
	violations []Violation
}

// blank is a history without a cluster. Its story is written as text; nil without a reader.
func blank(seed uint64, story io.Writer) *History {
	return &History{
		hashes: plan.NewHashMemo(),
		seed:   seed, story: story, listen: func(reconcile.Event) {},
		tried: map[*sim.Cluster]map[string]bool{}, down: map[string]string{}, buckets: map[string]string{}, endings: map[*sim.Cluster]conclusion{},
		records: map[*sim.Cluster]recorded{}, silent: map[string]time.Time{}, departed: map[string]departure{}, going: map[*sim.Cluster][]v1beta2.ProcessGroupID{},
	}
}

func (h *History) database() *locked.Database { return h.w.FDB.Databases()[0] }

// exists reports whether there is a database.
func (h *History) exists() bool { return len(h.w.FDB.Databases()) > 0 }

// recoveredFor is for how long the database has accepted commits; negative while it does not, or does not exist.
func (h *History) recoveredFor() time.Duration {
	if !h.exists() {
		return -1
	}
	return h.database().RecoveredFor()
}

func (h *History) logf(format string, args ...any) {
	if h.story != nil {
		fmt.Fprintf(h.story, "%s  %s\n", h.w.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
	}
}

func (h *History) report(e reconcile.Event) {
	if decided, ok := e.(reconcile.StageDecided); ok && decided.Hold != nil {
		h.holds = append(h.holds, *decided.Hold)
	}
	if decided, ok := e.(reconcile.StageDecided); ok && decided.Hold != nil && decided.Hold.Manual && decided.Hold.Code == plan.HoldNoBetterCoordinators {
		h.cramped = true
	}
	if decided, ok := e.(reconcile.StageDecided); ok && decided.Hold != nil && decided.Hold.Manual && decided.Hold.Code == plan.HoldVolumeGoing {
		for _, id := range decided.Hold.Subjects {
			h.going[h.w] = append(h.going[h.w], v1beta2.ProcessGroupID(id))
		}
	}
	h.listen(e)
}

func (h *History) violated() bool { return len(h.violations) > 0 }

// judge asks the invariants of an occasion.
func (h *History) judge(asked occasion, d *deed) {
	for _, i := range invariants {
		if i.requested != asked {
			continue
		}
		if why := i.broken(h, d); why != "" && !d.isBlind() {
			if d != nil {
				why = d.String() + ": " + why
			}
			h.logf("VIOLATED: %s: %s", i.sentence, why)
			h.violations = append(h.violations, Violation{i.code, i.sentence, why})
		}
	}
}

// pass runs one pass of the plugin, as far as it gets.
func (h *History) pass(ctx context.Context) {
	next := h.passes + 1
	h.logf("pass %d%s", next, h.whose())
	_, h.passError = h.run(ctx, reconcile.Pass{
		Stages: h.stages, Report: func(reconcile.Event) {}, Seed: h.seed + uint64(next)*1000, //nolint:gosec // not negative
		Continues: h.endings[h.w].pass.Acted > 0 && !h.settling, Hashes: h.hashes,
	})
	if !h.violated() && h.exists() {
		h.judge(afterPass, nil)
	}
}

// run runs a pass with a witness between it and the cluster.
func (h *History) run(ctx context.Context, p reconcile.Pass) (reconcile.PassDone, error) {
	h.passes++
	ctx, die := context.WithCancel(ctx)
	defer die()
	if h.arriving != nil {
		h.arriving(Step{Pass: h.passes}, nil)
	}
	if h.exists() {
		h.noteSilence()
	}
	h.holds = nil
	k := newWitness(h, die)
	listener := p.Report
	p.Observer, p.Actor, p.Gates = k, k, k.gates
	p.Report = func(e reconcile.Event) {
		k.report(e)
		listener(e)
	}
	done, err := h.change.plugin(h, p).Run(ctx)
	if !h.settling {
		h.endings[h.w] = conclusion{done, len(h.w.Acted), h.holds}
	}
	h.noteFaults(done)
	if (k.dead || h.violated()) && errors.Is(err, context.Canceled) {
		err = nil
	}
	return done, err
}

// noteFaults notes programs that go wrong: a pass reports a panic as a failure of its stage.
func (h *History) noteFaults(done reconcile.PassDone) {
	for _, failure := range done.Failures {
		if fault, is := errors.AsType[*reconcile.FaultError](failure); is {
			h.logf("VIOLATED: %s", fault)
			h.violations = append(h.violations, Violation{"breaks-off", sentenceOf("breaks-off"), fault.Error()})
		}
	}
}

// whose is whose pass it is, where there are several.
func (h *History) whose() string {
	if len(h.clusters) == 1 {
		return ""
	}
	return " of " + h.w.Resource.LockOwner()
}

// maxPasses is how many passes of each control-plane instance a history may need to converge.
const maxPasses = 120

// converge ends all troubles and runs passes until nothing is left to do.
func (h *History) converge(ctx context.Context) {
	if h.violated() {
		return
	}
	h.logf("all troubles end")
	h.healthy()
	h.calm = true
	for pod := range h.departed { // from now on nothing keeps it away
		h.departed[pod] = departure{h.w.Now(), h.passes}
	}
	h.repack()
	h.leaveOneTainted()
	if h.keepWhatIsListed(ctx); h.violated() {
		return
	}
	for range maxPasses {
		h.repair()
		h.cramped = false
		h.passOfEach(ctx)
		if h.violated() {
			return
		}
		if doesNotConverge(h, nil) == "" && countsDiffer(h, nil) == "" {
			h.settled(ctx)
			return
		}
		h.w.Tick(h.longestWait())
	}
	h.judge(atTheEnd, nil)
}

// settled asks what has to hold of a cluster that matches its spec.
func (h *History) settled(ctx context.Context) {
	h.settling = true
	h.w.Tick(time.Minute)
	h.passOfEach(ctx)
	if !h.violated() {
		h.judge(atTheEnd, nil)
	}
}

// crashes reports whether the plugin dies before its action with this number.
func (h *History) crashes(n int) bool {
	if h.crashAt == 0 || n < h.crashAt {
		return false
	}
	h.crashAt = 0
	return true
}

// leaveLease leaves the Lease of a run that was killed to run out.
func (h *History) leaveLease() {
	h.w.LeaseHolder, h.leaseEnds = "a run that was killed", h.w.Now().Add(time.Minute)
}

// loseLock gives the lock away before the action with this number.
func (h *History) loseLock(n int) bool {
	if h.loseAt == 0 || n < h.loseAt || !h.w.Locked() {
		return false
	}
	h.loseAt = 0
	h.logf("dc2 takes the lock away")
	h.w.LoseLock("dc2")
	return true
}

var (
	errConflict = errors.New("the object has been modified")
	errUnheard  = errors.New("connection lost; the request may have been carried out")
)

// refuses makes an action fail that would have been carried out.
func (h *History) refuses(a plan.Action) error {
	if err := h.noAnswer(); err != nil {
		return err
	}
	if h.failing == 0 {
		return h.forbidden(a)
	}
	h.failing--
	return errConflict
}

// loses makes an action look failed that was carried out.
func (h *History) loses(plan.Action) error {
	if h.unheard == 0 {
		return nil
	}
	h.unheard--
	return errUnheard
}

// group is one of the groups of the resource by a throw of the dice, or nil.
func (h *History) group(dice *rand.Rand) *v1beta2.ProcessGroupStatus {
	if h.aim != "" {
		return h.w.Resource.ProcessGroup(h.aim)
	}
	groups := h.w.Resource.Status.ProcessGroups
	n := dice.IntN(1 << 16)
	if len(groups) == 0 {
		return nil
	}
	return groups[n%len(groups)]
}

// mutation makes the plugin wrong on purpose. The zero value changes nothing.
type mutation struct {
	// stages changes the stages of every pass.
	stages func(*History, []plan.Stage) []plan.Stage
	// pass changes a pass before it runs.
	pass func(*History, *reconcile.Pass)
	// view changes what a view reads.
	view func(*inspect.Facts)
}

func (m mutation) plugin(h *History, p reconcile.Pass) *reconcile.Pass {
	if m.pass != nil {
		m.pass(h, &p)
	}
	return &p
}
