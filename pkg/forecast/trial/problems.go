package trial

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// problem is one thing that can happen to a cluster. What it hits is decided by dice of
// its own, so that leaving out other troubles changes nothing about it.
type problem struct {
	code   string
	name   string
	often  int // its weight among all troubles of a random history
	hits   target
	happen func(h *History, dice *rand.Rand)
}

// target is what a problem hits.
type target int

const (
	noGroup target = iota // what all process groups depend on
	aGroup                // one process group, or the node of its pod
)

func problems() []problem {
	return slices.Concat(specProblems, imageProblems, keptProblems, distributionProblems, evictionProblems, versionProblems, podProblems, nodeProblems, databaseProblems, pluginProblems, instanceProblems, resourceProblems)
}

// node is one that was lost.
type node struct {
	name string
	at   int // its place among the nodes
}

// nodeAt is the place of a node among the nodes: that of the pod that the problem hits, or one by a throw of the dice.
func (h *History) nodeAt(dice *rand.Rand) int {
	if h.aim == "" {
		return dice.IntN(len(h.w.Nodes))
	}
	g := h.w.Resource.ProcessGroup(h.aim)
	return max(0, slices.Index(h.w.Nodes, h.w.Pods[g.PodName(h.w.Resource)].Spec.NodeName))
}

// mayLose reports whether the cluster can lose a zone now without losing data: nothing
// is down, and everything is at full replication. More than the redundancy tolerates
// would be no fault of the plugin.
func (h *History) mayLose() bool {
	if h.single || !h.exists() {
		return true
	}
	return h.lost == nil && len(h.w.Broken)+len(h.w.Unschedulable)+len(h.down) == 0 &&
		len(h.w.Resource.Spec.ProcessGroupsToRemoveWithoutExclusion) == 0 && h.truth().complete
}

var podProblems = []problem{
	{"processes-crash", "the processes of a pod crash", 0, aGroup, func(h *History, dice *rand.Rand) {
		if g := h.group(dice); g != nil && h.answers(g.PodName(h.w.Resource)) {
			h.w.KillServers(g.PodName(h.w.Resource))
		}
	}},
	{"processes-broken", "servers do not start any more", 2, aGroup, func(h *History, dice *rand.Rand) {
		g := h.group(dice)
		if g == nil || !h.mayLose() || h.w.Pods[g.PodName(h.w.Resource)] == nil || !h.answers(g.PodName(h.w.Resource)) {
			return
		}
		h.logf("the servers of %s are broken", g.ProcessGroupID)
		h.w.Broken = map[string]bool{g.PodName(h.w.Resource): true}
		h.w.KillServers(g.PodName(h.w.Resource))
	}},
	{"pod-lost", "a pod is lost", 2, aGroup, func(h *History, dice *rand.Rand) {
		if g := h.group(dice); g != nil && h.mayLose() {
			h.logf("the pod of %s is lost", g.ProcessGroupID)
			h.w.KillPod(g.PodName(h.w.Resource))
		}
	}},
	{"pod-lost-unschedulable", "a pod is lost and no node takes the next", 1, aGroup, func(h *History, dice *rand.Rand) {
		if g := h.group(dice); g != nil && h.mayLose() {
			h.logf("the pod of %s is lost, and no node has room for it", g.ProcessGroupID)
			h.w.KillPod(g.PodName(h.w.Resource))
			h.w.Unschedulable = map[string]bool{g.PodName(h.w.Resource): true}
		}
	}},
	{"volume-lost", "a disk is lost and its servers are back at once", 2, aGroup, func(h *History, dice *rand.Rand) {
		g := h.group(dice)
		if g == nil || !h.mayLose() || !h.answers(g.PodName(h.w.Resource)) {
			return
		}
		h.logf("the disk of %s is lost, and its servers start again", g.ProcessGroupID)
		h.w.LoseDisk(g.PodName(h.w.Resource))
		h.w.Tick(time.Duration(1+dice.IntN(60)) * time.Second)
	}},
	{"node-lost", "a node is lost", 2, aGroup, func(h *History, dice *rand.Rand) {
		at := h.nodeAt(dice)
		if h.mayLose() {
			h.loseNode(at)
		}
	}},
}

// rare are problems that random histories draw by dice of their own, or not at all.
var rare = slices.Concat([]problem{deletedPVC, fullDisks, refusedPods}, requestProblems)

// deletedPVC is a user's mistake: the PVC stays as long as its pod, and its data vanishes with both.
var deletedPVC = problem{"user-deletes-pvc", "a user deletes a PVC while its pod runs", 0, aGroup, func(h *History, dice *rand.Rand) {
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
func (h *History) loseNode(at int) {
	if h.observed {
		h.lost = &node{name: h.w.Nodes[at]}
		h.w.LoseNode(h.lost.name)
		return
	}
	h.lost = &node{h.w.Nodes[at], at}
	h.w.Nodes = slices.Delete(slices.Clone(h.w.Nodes), at, at+1)
	pods := 0
	for name, pod := range h.w.Pods {
		if pod.Spec.NodeName == h.lost.name {
			h.w.KillPod(name)
			pods++
		}
	}
	h.logf("%s is lost, and of pods %d", h.lost.name, pods)
}

var databaseProblems = []problem{
	{"status-stale", "status is stale", 1, noGroup, fault("status is stale", locked.Faults{StaleStatus: true})},
	{"status-partial", "status is partial", 1, noGroup, fault("status is partial", locked.Faults{PartialStatus: true})},
	{"status-timeout", "status times out", 1, noGroup, fault("status times out", locked.Faults{StatusTimeout: true})},
	{"status-late", "status is late", 1, noGroup, fault("status ends at its deadline", locked.Faults{StatusDeadline: true})},
	{"bounce-impact-lies", "bounce impact lies", 1, noGroup, fault("the bounce impact contradicts the recovery state", locked.Faults{BounceImpactLies: true})},
	{"data-moves-slowly", "data moves slowly", 2, noGroup, fault("data moves slowly", locked.Faults{MoveBytesPerSecond: 100 << 10})},
	{"commands-slow", "commands are slow", 1, noGroup, fault("every command takes 20 s longer", locked.Faults{Delay: 20 * time.Second})},
	{"command-cut-before", "a command is cut off before it does anything", 1, noGroup, fault("the next command is cut off and did nothing", locked.Faults{DropCommands: 1})},
	{"command-cut-after", "a command is cut off after it took effect", 1, noGroup, fault("the next command is cut off and took effect", locked.Faults{DropCommands: 1, ApplyUnknown: true})},
	{"commit-unknown", "a commit has an unknown result", 1, noGroup, fault("the next commit has an unknown result", locked.Faults{UnknownCommits: 1, ApplyUnknown: true})},
	{"user-excludes", "a user excludes a group", 1, aGroup, func(h *History, dice *rand.Rand) {
		g := h.group(dice)
		if g == nil || len(h.byHand) > 0 || !h.mayLose() {
			return
		}
		h.logf("a user excludes %s", g.ProcessGroupID)
		h.byHand = []string{g.ExclusionString()}
		h.typed("exclude no_wait " + g.ExclusionString())
	}},
	{"user-includes-all", "a user includes everything", 1, noGroup, func(h *History, _ *rand.Rand) {
		h.logf("a user includes everything")
		h.byHand = nil
		h.typed("include all")
	}},
}

func fault(what string, f locked.Faults) func(*History, *rand.Rand) {
	return func(h *History, _ *rand.Rand) {
		if f.StaleStatus && h.w.Skew != 0 {
			return // a clock and a status that both lie leave nothing to judge by
		}
		h.logf("%s", what)
		h.stale, h.full, h.liesSince = f.StaleStatus, f.FullDisks, h.passes
		h.database().SetFaults(f)
	}
}

// endLies ends what is wrong with the database, if there is one.
func (h *History) endLies() {
	if h.stale, h.full = false, false; h.exists() {
		h.database().SetFaults(locked.Faults{})
	}
}

// typed runs what a user types; that it fails while the database is away is life.
func (h *History) typed(script string) {
	if err := h.typeIn(h.w, script); err != nil {
		h.logf("which fails")
	}
}

var pluginProblems = []problem{
	{"plugin-killed", "the plugin dies", 3, noGroup, func(h *History, dice *rand.Rand) {
		h.crashAt = len(h.w.Acted) + 1 + dice.IntN(6)
		h.logf("the plugin dies before action %d", h.crashAt)
	}},
	{"action-refused", "actions fail", 1, noGroup, func(h *History, dice *rand.Rand) {
		h.failing = 1 + dice.IntN(3)
		h.logf("of the next actions %d fail", h.failing)
	}},
	{"answer-lost", "the answer to an action is lost", 1, noGroup, func(h *History, dice *rand.Rand) {
		h.unheard = 1 + dice.IntN(3)
		h.logf("of the next answers to actions %d are lost", h.unheard)
	}},
	{"lock-held", "another control-plane instance has the lock", 1, noGroup, func(h *History, _ *rand.Rand) {
		h.w.LockHolder = "dc2"
		h.logf("dc2 has the lock")
	}},
	{"lock-lost", "the lock is lost in the middle of a pass", 1, noGroup, func(h *History, dice *rand.Rand) {
		h.loseAt = len(h.w.Acted) + 1 + dice.IntN(4)
		h.logf("the lock is lost at action %d", h.loseAt)
	}},
	{"lease-held", "another run has the Lease", 1, noGroup, func(h *History, dice *rand.Rand) {
		h.w.LeaseHolder, h.leaseEnds = "another run", h.w.Now().Add(time.Duration(dice.IntN(900))*time.Second)
		h.logf("another run has the Lease")
	}},
	{"operator-active", "an operator is at work", 1, noGroup, func(h *History, _ *rand.Rand) {
		h.operator = true
		h.logf("an operator is at work")
	}},
	{"clock-off", "the plugin's clock jumps", 1, noGroup, func(h *History, dice *rand.Rand) {
		if h.stale {
			return // see fault
		}
		h.w.Skew = time.Duration(dice.IntN(3600)-1800) * time.Second
		h.logf("the plugin's clock is off by %s", h.w.Skew)
	}},
	{"troubles-end", "troubles end for a while", 10, noGroup, func(h *History, _ *rand.Rand) { h.healthy() }},
}

// replaceGoing replaces, as the hold of a pass proposes to a user, the groups whose PVCs are being deleted
// or do not exist while their pods run.
func (h *History) replaceGoing(w *sim.Cluster) {
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
func (h *History) startRoutine() {
	for _, w := range h.clusters {
		if w.LeaseHolder != "" && !w.Now().Before(h.leaseEnds) {
			w.LeaseHolder = ""
		}
	}
}

// healthy ends all troubles but broken servers, whose group has to be replaced.
func (h *History) healthy() {
	for _, w := range h.clusters {
		w.LockHolder, w.LeaseHolder, w.Skew = "", "", 0
	}
	h.inTurn(h.correctImage)
	h.operator = false
	h.crashAt, h.loseAt, h.failing, h.unheard, h.faster = 0, 0, 0, 0, false
	h.halves, h.forbids, h.forbiddenKind, h.unreachable = false, false, "", 0
	if h.w.Reject = nil; !h.observed {
		h.w.Unschedulable = nil
	}
	h.endLies()
	if h.observed && h.lost != nil {
		h.w.ReturnNode(h.lost.name)
		h.lost = nil
	}
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
