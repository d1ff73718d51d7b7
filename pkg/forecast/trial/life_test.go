package trial

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
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

// play plays a life and returns the invariants that did not hold.
func (l life) play(t *testing.T, change mutation, story io.Writer) []Violation {
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
		h.passOfEach(t.Context())
		h.w.Tick(s.wait)
	}
	h.converge(t.Context())
	return h.violations
}

func newHistory(t *testing.T, l life, change mutation, story io.Writer) *History {
	t.Helper()
	h := blank(l.seed, story)
	h.change, h.typeIn = change, simtest.Run
	if story != nil {
		h.listen = ui.Text(story, ui.TextOptions{})
	}
	random := rand.New(rand.NewPCG(l.seed, 18))
	if l.seed%everyWithTwo == 0 {
		h.share(t, func(s *v1beta2.FoundationDBClusterSpec) {
			draw(s, rand.New(rand.NewPCG(l.seed, 19)))
			if random.IntN(2) == 0 {
				s.AutomationOptions.SynchronizationMode = new(v1beta2.SynchronizationModeGlobal)
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

// alone brings up a database that one control-plane instance has to itself.
func (h *History) alone(t *testing.T, random *rand.Rand) {
	t.Helper()
	w, err := simtest.Sample(h.seed, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 3 + random.IntN(3), Log: 4, Stateless: 4}
		c.Spec.LockOptions.DisableLocks = new(random.IntN(2) == 0)
		draw(&c.Spec, random)
	})
	if err != nil {
		t.Fatal(err)
	}
	h.w, h.clusters = w, []*sim.Cluster{w}
	w.Nodes = simtest.NodeNames(14) // room for all groups and all their replacements, each in a zone of its own
	if err := simtest.Settle(t.Context(), 14, w); err != nil {
		t.Fatal(err)
	}
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

func drawProblem(random *rand.Rand) problem {
	total := 0
	for _, t := range problems() {
		total += t.often
	}
	n := random.IntN(total)
	for _, t := range problems() {
		if n -= t.often; n < 0 {
			return t
		}
	}
	panic("unreachable: n is below the sum of all weights")
}

// everyRefusing is how often the API server of a history refuses objects. It has dice of its own, so that the other
// troubles of a seed stay the same.
const everyRefusing = 5

// refuseObjects begins and ends refusals of new pods and PVCs, in some histories.
func (h *History) refuseObjects(s step) {
	dice := rand.New(rand.NewPCG(s.dice, 23))
	if h.seed%everyRefusing != 3 {
		return
	}
	switch g := h.group(dice); dice.IntN(3) {
	case 0:
		if g != nil {
			h.logf("pods and PVCs of class %s are refused", g.ProcessClass)
			h.refuseClass(g.ProcessClass, []plan.RefusalKind{plan.RefusedByQuota, plan.RefusedByPolicy}[dice.IntN(2)])
		}
	case 1:
		h.logf("no object is refused")
		h.w.Reject = nil
	}
}

// everyWithFullDisks is of how many lives one has disks that fill. All others stay the same without them.
const everyWithFullDisks = 7

// fillDisks fills all disks, or enlarges them, in some histories. It ends the trouble that the database had.
func (h *History) fillDisks(s step) {
	if h.seed%everyWithFullDisks != 4 {
		return
	}
	switch dice := rand.New(rand.NewPCG(s.dice, 25)); dice.IntN(4) {
	case 0:
		fullDisks.happen(h, dice)
	case 1:
		fault("no disk is full", locked.Faults{})(h, dice)
	}
}

// everyWithTwo is that every so manieth history is of a database that two instances
// share, each with a cluster, a resource and a plugin of its own.
const everyWithTwo = 8

// share brings up a database that two control-plane instances share. Troubles befall the first; what
// is typed into the specs of both is the same where it has to be.
func (h *History) share(t *testing.T, edit func(*v1beta2.FoundationDBClusterSpec)) {
	t.Helper()
	clusters, err := simtest.Share(t.Context(), h.seed, edit, "kc1", "kc2")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range clusters {
		addNodes(w)
	}
	h.clusters = clusters
	h.w = h.clusters[0]
}

// addNodes adds nodes for all process groups and all their replacements, each in a zone of its own.
func addNodes(w *sim.Cluster) {
	for n := len(w.Nodes); n < 14; n++ {
		w.Nodes = append(w.Nodes, strings.TrimRight(w.Nodes[0], "1")+string(rune('a'+n)))
	}
}
