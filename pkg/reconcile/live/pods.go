package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// PodCandidate is a pod in which tools could be run, as the caller sees it.
type PodCandidate struct {
	Name string
	// Running: the pod's phase is Running and its main container is ready.
	Running bool
	// Terminating: the pod has a deletion timestamp.
	Terminating bool
	// Isolated: the pod's fdbserver is stopped intentionally.
	Isolated bool
	// Excluded: the process group is marked for removal or excluded.
	Excluded bool
	// Unready: the pod is reported as not ready although its main container is, such as on a
	// node that stopped reporting.
	Unready bool
	// Unresponsive: its processes do not report. They may have missed a change of coordinators,
	// and then the pod's cluster file is stale.
	Unresponsive bool
	// Answered: the last tool that ran in it succeeded. A dead node should not delay every
	// command again.
	Answered bool
	// Coordinator: one of its processes is a reachable coordinator.
	Coordinator bool
	// Since is when the pod became ready: older ones are more likely to remain.
	Since time.Time
	// Node is where it runs. A dead node makes all of its pods unreachable.
	Node string
}

// ChoosePods orders the usable pods, the best first: the one that responded last, reachable coordinators, then
// older ones, and equal ones alternating between nodes. Excluded pods come after these, then those whose processes
// do not report, and those that are not ready last: they are better than none. Pods that do not run, are
// terminating or isolated are omitted.
func ChoosePods(candidates []PodCandidate) []PodCandidate {
	usable := slices.DeleteFunc(slices.Clone(candidates), func(p PodCandidate) bool {
		return !p.Running || p.Terminating || p.Isolated
	})
	stable.Sort(usable, func(a, b PodCandidate) int {
		return cmp.Or(
			compareFaults(a, b),
			compareBool(b.Answered, a.Answered),
			compareBool(b.Coordinator, a.Coordinator),
			a.Since.Compare(b.Since),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return spread(usable)
}

// compareFaults orders the pod with fewer drawbacks first.
func compareFaults(a, b PodCandidate) int {
	return cmp.Or(compareBool(a.Unready, b.Unready), compareBool(a.Unresponsive, b.Unresponsive), compareBool(a.Excluded, b.Excluded))
}

// spread orders the first pod of each node before the second of any, among those with
// the same drawbacks.
func spread(pods []PodCandidate) []PodCandidate {
	type ranked struct {
		PodCandidate
		nth int
	}
	var all []ranked
	for i, p := range pods {
		nth := 0
		for _, before := range pods[:i] {
			if before.Node == p.Node && compareFaults(before, p) == 0 {
				nth++
			}
		}
		all = append(all, ranked{p, nth})
	}
	stable.Sort(all, func(a, b ranked) int {
		return cmp.Or(compareFaults(a.PodCandidate, b.PodCandidate), cmp.Compare(a.nth, b.nth))
	})
	for i, p := range all {
		pods[i] = p.PodCandidate
	}
	return pods
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
