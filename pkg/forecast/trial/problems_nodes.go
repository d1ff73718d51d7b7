package trial

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// The keys of the taints of histories: one that rules name, and one that they do not.
const (
	namedTaint   = "example.com/maintenance"
	unnamedTaint = "example.com/other"
)

// taintRules are what the spec of a history has about taints: nothing, one key, or any
// key but one.
func taintRules(random *rand.Rand) []v1beta2.TaintReplacementOption {
	rule := func(key string, seconds int64) v1beta2.TaintReplacementOption {
		return v1beta2.TaintReplacementOption{Key: new(key), DurationInSeconds: new(seconds)}
	}
	switch random.IntN(3) {
	case 0:
		return nil
	case 1:
		return []v1beta2.TaintReplacementOption{rule(namedTaint, 300)}
	default:
		return []v1beta2.TaintReplacementOption{rule("*", 600), rule(unnamedTaint, math.MaxInt64)}
	}
}

// maxTainted is how many nodes are tainted at once: with one lost and one that has no
// room there are enough left for all groups and their replacements.
const maxTainted = 2

var nodeProblems = []problem{
	{"node-tainted", "a node is tainted", 2, aGroup, func(h *History, dice *rand.Rand) {
		at, key := h.nodeAt(dice), []string{namedTaint, unnamedTaint}[dice.IntN(2)]
		name := h.w.Nodes[at]
		if len(h.w.Taints) >= maxTainted || len(h.w.Taints[name]) > 0 {
			return
		}
		h.logf("%s is tainted with %s", name, key)
		h.taint(name, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}},
	{"taints-removed", "taints are taken away", 1, noGroup, func(h *History, _ *rand.Rand) {
		h.logf("no node is tainted")
		h.w.Taints = nil
	}},
}

func (h *History) taint(node string, t corev1.Taint) {
	if h.w.Taints == nil {
		h.w.Taints = map[string][]corev1.Taint{}
	}
	h.w.Taints[node] = []corev1.Taint{t}
}

// leaveOneTainted takes away what no pass can bring to an end: taints that the spec bids
// to endure, and more tainted nodes than are left by themselves.
func (h *History) leaveOneTainted() {
	left := false
	for _, name := range slices.Sorted(maps.Keys(h.w.Taints)) {
		timeout := h.w.Resource.TaintDelays(h.w.Taints[name][0].Key)
		if left || (len(timeout) > 0 && slices.Max(timeout) == math.MaxInt64) {
			h.logf("%s is not tainted any more", name)
			delete(h.w.Taints, name)
			continue
		}
		left = len(timeout) > 0
	}
}

var versionProblems = []problem{
	{"version-edited", "the version changes", 1, noGroup, func(h *History, dice *rand.Rand) {
		within := h.reachable()
		version := within[dice.IntN(1<<16)%len(within)]
		if version == h.w.Resource.Spec.Version {
			return
		}
		h.editAll(func(s *v1beta2.FoundationDBClusterSpec) { s.Version = version })
		h.logf("spec: version %s", version)
	}},
}

// reachable are the versions that the cluster can go to from what it runs now: any of its
// own protocol, and newer ones. Once servers were restarted in a newer one there is no way
// back, whatever the resource reports yet.
func (h *History) reachable() []string {
	newer := []string{"7.4.5", "7.4.6"}
	if slices.ContainsFunc(h.clusters, wasUpgraded) {
		return newer
	}
	return append([]string{"7.3.79", "7.3.80"}, newer...)
}

func wasUpgraded(w *sim.Cluster) bool {
	return slices.ContainsFunc(w.Acted, func(a plan.Action) bool {
		restart, ok := a.(plan.RestartProcesses)
		return ok && restart.UpgradeTo != ""
	})
}
