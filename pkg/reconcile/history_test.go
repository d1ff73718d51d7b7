package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// life is everything that decides a history. Played again, it is the same.
type life struct {
	seed  uint64
	steps []step
}

// step is one trouble, a pass, and the time until the next.
type step struct {
	problem problem
	dice    uint64
	wait    time.Duration
}

const stepsOfALife = 20

// lifeOf is the life that a seed means.
func lifeOf(seed uint64) life {
	random := rand.New(rand.NewPCG(seed, 17))
	l := life{seed: seed}
	for range stepsOfALife {
		l.steps = append(l.steps, step{
			problem: drawProblem(random), dice: random.Uint64(), wait: time.Duration(1+random.IntN(600)) * time.Second,
		})
	}
	if seed%everyWithDeletedPVCs == 1 {
		l.deletePVCs(rand.New(rand.NewPCG(seed, 20)))
	}
	return l
}

// everyWithDeletedPVCs is of how many lives one has users who delete PVCs of running pods. All others
// stay the same without such users.
const everyWithDeletedPVCs = 3

// deletePVCs replaces some of the troubles.
func (l life) deletePVCs(random *rand.Rand) {
	for i := range l.steps {
		if random.IntN(4) == 0 {
			l.steps[i].problem = deletedPVC
		}
	}
}

// violation is an invariant that did not hold.
type violation struct{ sentence, why string }

// history is a life while it is played.
type history struct {
	t        *testing.T
	clusters []*sim.Cluster // of all instances that share the database
	w        *sim.Cluster   // of the one whose turn it is
	life     life
	story    io.Writer // nil without a reader
	listen   func(reconcile.Event)
	change   mutation
	stages   []plan.Stage
	passes   int

	// What troubles it now.
	operator  bool
	leaseEnds time.Time // of a run that was killed
	crashAt   int       // the number of the action before which the plugin dies; 0 for none
	loseAt    int       // the number of the action before which the lock is lost; 0 for none
	failing   int       // how many actions fail before they do anything
	unheard   int       // how many actions are done and reported as failed
	byHand    []string  // what a user excluded
	stale     bool      // status shows a former cluster state
	full      bool      // no transaction of a client starts
	faster    bool      // the other instance acts before the lock is taken
	lost      *node
	cramped   bool                                      // the last pass asked for another fault domain for coordinators
	added     int                                       // how many storage groups a user added for them
	going     map[*sim.Cluster][]v1beta2.ProcessGroupID // groups that a pass asked a user to replace

	tried      map[*sim.Cluster]map[string]bool // pods taken down for an image that cannot be pulled, while the spec has it
	down       map[string]string                // nodes of the pods that are down by our hand
	buckets    map[string]string                // distribution keys that these had
	endings    map[*sim.Cluster]conclusion      // of the last pass of each
	records    map[*sim.Cluster]recorded        // what the last passes of each only recorded
	silent     map[string]time.Time             // since when the pods do not answer that do not
	departed   map[string]departure             // pods that went down by our hand and do not answer yet
	calm       bool                             // all troubles are over
	passError  error
	settling   bool
	violations []violation
}

// play plays a life and returns the invariants that did not hold.
func (l life) play(t *testing.T, change mutation, story io.Writer) []violation {
	t.Helper()
	h := newHistory(t, l, change, story)
	for _, s := range l.steps {
		if h.violated() {
			break
		}
		h.startRoutine()
		h.refuseObjects(s)
		h.fillDisks(s)
		s.problem.happen(h, rand.New(rand.NewPCG(s.dice, 17)))
		h.passOfEach()
		h.w.Tick(s.wait)
	}
	h.converge()
	return h.violations
}

func newHistory(t *testing.T, l life, change mutation, story io.Writer) *history {
	t.Helper()
	h := &history{
		t: t, life: l, tried: map[*sim.Cluster]map[string]bool{}, down: map[string]string{}, buckets: map[string]string{}, endings: map[*sim.Cluster]conclusion{}, records: map[*sim.Cluster]recorded{}, silent: map[string]time.Time{}, departed: map[string]departure{}, going: map[*sim.Cluster][]v1beta2.ProcessGroupID{}, change: change, story: story,
		listen: func(reconcile.Event) {},
	}
	if story != nil {
		h.listen = ui.Text(story, ui.TextOptions{})
	}
	random := rand.New(rand.NewPCG(l.seed, 18))
	if l.seed%everyWithTwo == 0 {
		h.share(t, func(s *v1beta2.FoundationDBClusterSpec) {
			draw(s, rand.New(rand.NewPCG(l.seed, 19)))
			if random.IntN(2) == 0 {
				globally(s)
			}
		})
	} else {
		h.alone(t, random)
	}
	h.database().LoadBytes(int64(random.IntN(200)) << 20)
	h.stages = stages.Cluster()
	if change.stages != nil {
		h.stages = change.stages(h, h.stages)
	}
	h.logf("a cluster of %d storage groups is up", h.w.Resource.Spec.ProcessCounts.Storage)
	return h
}

// alone brings up a database that one instance has to itself.
func (h *history) alone(t *testing.T, random *rand.Rand) {
	t.Helper()
	h.w = cluster(t, h.life.seed, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 3 + random.IntN(3), Log: 4, Stateless: 4}
		c.Spec.LockOptions.DisableLocks = new(random.IntN(2) == 0)
		draw(&c.Spec, random)
	})
	h.clusters = []*sim.Cluster{h.w}
	h.w.Nodes = nodeNames(14) // room for all groups and all their replacements, each in a zone of its own
	settle(t, h.w, 14, io.Discard)
}

// draw chooses how a cluster is to be cared for.
func draw(s *v1beta2.FoundationDBClusterSpec, random *rand.Rand) {
	options := &s.AutomationOptions
	options.Replacements.FailureDetectionTimeSeconds = new(600)
	options.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
	s.Routing.UseDNSInClusterFile = new(random.IntN(2) == 0)
	options.MaintenanceModeOptions.UseMaintenanceModeChecker = new(random.IntN(3) == 0)
	options.Replacements.TaintReplacementOptions = taintRules(random)
	options.Replacements.TaintReplacementTimeSeconds = new(600)
}

func nodeNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i+1)
	}
	return names
}

func (h *history) database() *fdbsim.Database { return h.w.FDB.Databases()[0] }

func (h *history) logf(format string, args ...any) {
	if h.story != nil {
		fmt.Fprintf(h.story, "%s  %s\n", h.w.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
	}
}

func (h *history) report(e reconcile.Event) {
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

func (h *history) violated() bool { return len(h.violations) > 0 }

// judge asks the invariants of an occasion.
func (h *history) judge(asked occasion, d *deed) {
	for _, i := range invariants {
		if i.requested != asked {
			continue
		}
		if why := i.broken(h, d); why != "" {
			if d != nil {
				why = d.String() + ": " + why
			}
			h.logf("VIOLATED: %s: %s", i.sentence, why)
			h.violations = append(h.violations, violation{i.sentence, why})
		}
	}
}

// pass runs one pass of the plugin, as far as it gets.
func (h *history) pass(ctx context.Context) {
	h.passes++
	h.logf("pass %d%s", h.passes, h.whose())
	ctx, die := context.WithCancel(ctx)
	defer die()
	h.noteSilence()
	k := newWitness(h, die)
	p := h.change.plugin(h, reconcile.Pass{
		Stages: h.stages, Observer: k, Actor: k, Gates: k.gates, Report: k.report, Seed: h.life.seed + uint64(h.passes)*1000,
		Continues: h.endings[h.w].pass.Acted > 0 && !h.settling,
	})
	var done reconcile.PassDone
	done, h.passError = p.Run(ctx)
	if !h.settling {
		h.endings[h.w] = conclusion{done, len(h.w.Acted)}
	}
	if (k.dead || h.violated()) && errors.Is(h.passError, context.Canceled) {
		h.passError = nil
	}
	if !h.violated() {
		h.judge(afterPass, nil)
	}
}

// whose is whose pass it is, where there are several.
func (h *history) whose() string {
	if len(h.clusters) == 1 {
		return ""
	}
	return " of " + h.w.Resource.LockOwner()
}

// maxPasses is how many passes of each instance a history may need to converge.
const maxPasses = 120

// converge ends all troubles and runs passes until nothing is left to do.
func (h *history) converge() {
	if h.violated() {
		return
	}
	h.logf("all troubles end")
	h.healthy()
	h.calm = true
	h.repack()
	h.leaveOneTainted()
	if h.keepWhatIsListed(); h.violated() {
		return
	}
	for range maxPasses {
		h.repair()
		h.cramped = false
		h.passOfEach()
		if h.violated() {
			return
		}
		if doesNotConverge(h, nil) == "" && countsDiffer(h, nil) == "" {
			h.settled()
			return
		}
		h.w.Tick(h.longestWait())
	}
	h.judge(atTheEnd, nil)
}

// settled asks what has to hold of a cluster that matches its spec.
func (h *history) settled() {
	h.settling = true
	h.w.Tick(time.Minute)
	h.passOfEach()
	if !h.violated() {
		h.judge(atTheEnd, nil)
	}
}

// crashes reports whether the plugin dies before its action with this number.
func (h *history) crashes(n int) bool {
	if h.crashAt == 0 || n < h.crashAt {
		return false
	}
	h.crashAt = 0
	return true
}

// leaveLease leaves the Lease of a run that was killed to run out.
func (h *history) leaveLease() {
	h.w.LeaseHolder, h.leaseEnds = "a run that was killed", h.w.Now().Add(time.Minute)
}

// loseLock gives the lock away before the action with this number.
func (h *history) loseLock(n int) bool {
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
func (h *history) refuses(plan.Action) error {
	if h.failing == 0 {
		return nil
	}
	h.failing--
	return errConflict
}

// loses makes an action look failed that was carried out.
func (h *history) loses(plan.Action) error {
	if h.unheard == 0 {
		return nil
	}
	h.unheard--
	return errUnheard
}

// group is one of the groups of the resource by a throw of the dice, or nil.
func (h *history) group(dice *rand.Rand, classes ...v1beta2.ProcessClass) *v1beta2.ProcessGroupStatus {
	groups := slices.DeleteFunc(slices.Clone(h.w.Resource.Status.ProcessGroups), func(g *v1beta2.ProcessGroupStatus) bool {
		return len(classes) > 0 && !slices.Contains(classes, g.ProcessClass)
	})
	n := dice.IntN(1 << 16)
	if len(groups) == 0 {
		return nil
	}
	return groups[n%len(groups)]
}
