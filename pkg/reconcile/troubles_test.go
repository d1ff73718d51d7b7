package reconcile_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
)

// problem is one thing that can happen to a cluster. What it hits is decided by dice of
// its own, so that leaving out other troubles changes nothing about it.
type problem struct {
	name   string
	often  int // its weight among all troubles
	happen func(h *history, dice *rand.Rand)
}

func problems() []problem {
	return slices.Concat(specProblems, imageProblems, keptProblems, distributionProblems, evictionProblems, versionProblems, podProblems, nodeProblems, databaseProblems, pluginProblems, instanceProblems, resourceProblems)
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

// node is one that was lost.
type node struct {
	name string
	at   int // its place among the nodes
}

// mayLose reports whether the cluster can lose a zone now without losing data: nothing
// is down, and everything is at full replication. More than the redundancy tolerates
// would be no fault of the plugin.
func (h *history) mayLose() bool {
	return h.lost == nil && len(h.w.Broken)+len(h.w.Unschedulable)+len(h.down) == 0 &&
		len(h.w.Resource.Spec.ProcessGroupsToRemoveWithoutExclusion) == 0 && h.truth().complete
}

var podProblems = []problem{
	{"servers do not start any more", 2, func(h *history, dice *rand.Rand) {
		g := h.group(dice)
		if g == nil || !h.mayLose() || h.w.Pods[g.PodName(h.w.Resource)] == nil || !h.answers(g.PodName(h.w.Resource)) {
			return
		}
		h.logf("the servers of %s are broken", g.ProcessGroupID)
		h.w.Broken = map[string]bool{g.PodName(h.w.Resource): true}
		h.w.KillServers(g.PodName(h.w.Resource))
	}},
	{"a pod is lost", 2, func(h *history, dice *rand.Rand) {
		if g := h.group(dice); g != nil && h.mayLose() {
			h.logf("the pod of %s is lost", g.ProcessGroupID)
			h.w.KillPod(g.PodName(h.w.Resource))
		}
	}},
	{"a pod is lost and no node takes the next", 1, func(h *history, dice *rand.Rand) {
		if g := h.group(dice); g != nil && h.mayLose() {
			h.logf("the pod of %s is lost, and no node has room for it", g.ProcessGroupID)
			h.w.KillPod(g.PodName(h.w.Resource))
			h.w.Unschedulable = map[string]bool{g.PodName(h.w.Resource): true}
		}
	}},
	{"a disk is lost and its servers are back at once", 2, func(h *history, dice *rand.Rand) {
		g := h.group(dice)
		if g == nil || !h.mayLose() || !h.answers(g.PodName(h.w.Resource)) {
			return
		}
		h.logf("the disk of %s is lost, and its servers start again", g.ProcessGroupID)
		h.w.LoseDisk(g.PodName(h.w.Resource))
		h.w.Tick(time.Duration(1+dice.IntN(60)) * time.Second)
	}},
	{"a node is lost", 2, func(h *history, dice *rand.Rand) {
		at := dice.IntN(len(h.w.Nodes))
		if h.mayLose() {
			h.loseNode(at)
		}
	}},
}

// deletedPVC is a user's mistake: the PVC stays as long as its pod, and its data vanishes with both.
var deletedPVC = problem{"a user deletes a PVC while its pod runs", 0, func(h *history, dice *rand.Rand) {
	g := h.groupThat(dice, func(g *v1beta2.ProcessGroupStatus) bool {
		return g.ProcessClass.IsStateful() && !g.IsMarkedForRemoval() && h.w.Pods[g.PodName(h.w.Resource)] != nil
	})
	if g != nil {
		h.logf("a user deletes the PVC of %s, whose pod runs", g.ProcessGroupID)
		h.w.DeleteClaim(g.PVCName(h.w.Resource))
	}
}}

// loseNode takes a node and all its pods away. Their volumes stay, as those do that are
// no node's own.
func (h *history) loseNode(at int) {
	h.lost = &node{h.w.Nodes[at], at}
	h.w.Nodes = slices.Delete(slices.Clone(h.w.Nodes), at, at+1)
	pods := 0
	for name, pod := range h.w.Pods {
		if pod.Spec.NodeName == h.lost.name {
			h.w.KillPod(name)
			pods++
		}
	}
	h.logf("%s is lost with %d pods", h.lost.name, pods)
}

var databaseProblems = []problem{
	{"status is stale", 1, fault("status is stale", fdbsim.Faults{StaleStatus: true})},
	{"status is partial", 1, fault("status is partial", fdbsim.Faults{PartialStatus: true})},
	{"status times out", 1, fault("status times out", fdbsim.Faults{StatusTimeout: true})},
	{"status is late", 1, fault("status ends at its deadline", fdbsim.Faults{StatusDeadline: true})},
	{"bounce impact lies", 1, fault("the bounce impact contradicts the recovery state", fdbsim.Faults{BounceImpactLies: true})},
	{"data moves slowly", 2, fault("data moves slowly", fdbsim.Faults{MoveBytesPerSecond: 100 << 10})},
	{"commands are slow", 1, fault("every command takes 20 s longer", fdbsim.Faults{Delay: 20 * time.Second})},
	{"a command is cut off before it does anything", 1, fault("the next command is cut off and did nothing", fdbsim.Faults{DropCommands: 1})},
	{"a command is cut off after it took effect", 1, fault("the next command is cut off and took effect", fdbsim.Faults{DropCommands: 1, ApplyUnknown: true})},
	{"a commit has an unknown result", 1, fault("the next commit has an unknown result", fdbsim.Faults{UnknownCommits: 1, ApplyUnknown: true})},
	{"a user excludes a group", 1, func(h *history, dice *rand.Rand) {
		g := h.group(dice)
		if g == nil || len(h.byHand) > 0 || !h.mayLose() {
			return
		}
		h.logf("a user excludes %s", g.ProcessGroupID)
		h.byHand = []string{g.ExclusionString()}
		h.typed("exclude no_wait " + g.ExclusionString())
	}},
	{"a user includes everything", 1, func(h *history, _ *rand.Rand) {
		h.logf("a user includes everything")
		h.byHand = nil
		h.typed("include all")
	}},
}

func fault(what string, f fdbsim.Faults) func(*history, *rand.Rand) {
	return func(h *history, _ *rand.Rand) {
		if f.StaleStatus && h.w.Skew != 0 {
			return // a clock and a status that both lie leave nothing to judge by
		}
		h.logf("%s", what)
		h.stale, h.full = f.StaleStatus, f.FullDisks
		h.database().SetFaults(f)
	}
}

// typed runs what a user types; that it fails while the database is away is life.
func (h *history) typed(script string) {
	if _, err := simtest.Type(h.w, script); err != nil {
		h.logf("which fails")
	}
}

var pluginProblems = []problem{
	{"the plugin dies", 3, func(h *history, dice *rand.Rand) {
		h.crashAt = len(h.w.Acted) + 1 + dice.IntN(6)
		h.logf("the plugin dies before action %d", h.crashAt)
	}},
	{"actions fail", 1, func(h *history, dice *rand.Rand) {
		h.failing = 1 + dice.IntN(3)
		h.logf("the next %d actions fail", h.failing)
	}},
	{"the answer to an action is lost", 1, func(h *history, dice *rand.Rand) {
		h.unheard = 1 + dice.IntN(3)
		h.logf("the answers to the next %d actions are lost", h.unheard)
	}},
	{"another instance has the lock", 1, func(h *history, _ *rand.Rand) {
		h.w.LockHolder = "dc2"
		h.logf("dc2 has the lock")
	}},
	{"the lock is lost in the middle of a pass", 1, func(h *history, dice *rand.Rand) {
		h.loseAt = len(h.w.Acted) + 1 + dice.IntN(4)
		h.logf("the lock is lost at action %d", h.loseAt)
	}},
	{"another run has the Lease", 1, func(h *history, dice *rand.Rand) {
		h.w.LeaseHolder, h.leaseEnds = "another run", h.w.Now().Add(time.Duration(dice.IntN(900))*time.Second)
		h.logf("another run has the Lease")
	}},
	{"an operator is at work", 1, func(h *history, _ *rand.Rand) {
		h.operator = true
		h.logf("an operator is at work")
	}},
	{"the plugin's clock jumps", 1, func(h *history, dice *rand.Rand) {
		if h.stale {
			return // see fault
		}
		h.w.Skew = time.Duration(dice.IntN(3600)-1800) * time.Second
		h.logf("the plugin's clock is off by %s", h.w.Skew)
	}},
	{"troubles end for a while", 10, func(h *history, _ *rand.Rand) { h.healthy() }},
}

// replaceGoing replaces, as the hold of a pass proposes to a user, the groups whose PVCs are being deleted
// or do not exist while their pods run.
func (h *history) replaceGoing(w *sim.Cluster) {
	for _, id := range h.going[w] {
		g := w.Resource.ProcessGroup(id)
		if g == nil || g.IsMarkedForRemoval() || slices.Contains(w.Resource.Spec.CancelReplacementsForInstance, id) {
			continue
		}
		h.logf("a user replaces %s", id)
		g.MarkForRemoval(w.Now())
	}
	delete(h.going, w)
}

// startRoutine ends what ends by itself.
func (h *history) startRoutine() {
	for _, w := range h.clusters {
		if w.LeaseHolder != "" && !w.Now().Before(h.leaseEnds) {
			w.LeaseHolder = ""
		}
	}
}

// healthy ends all troubles but broken servers, whose group has to be replaced.
func (h *history) healthy() {
	for _, w := range h.clusters {
		w.LockHolder, w.LeaseHolder, w.Skew = "", "", 0
	}
	h.inTurn(h.correctImage)
	h.operator = false
	h.crashAt, h.loseAt, h.failing, h.unheard, h.faster = 0, 0, 0, 0, false
	h.w.Unschedulable, h.w.Reject = nil, nil
	h.stale, h.full = false, false
	h.database().SetFaults(fdbsim.Faults{})
	if h.lost != nil {
		h.logf("%s is back", h.lost.name)
		h.w.Nodes, h.lost = slices.Insert(slices.Clone(h.w.Nodes), h.lost.at, h.lost.name), nil
	}
	for pod := range h.w.Broken {
		if h.w.Pods[pod] == nil {
			h.w.Broken = nil
		}
	}
}
