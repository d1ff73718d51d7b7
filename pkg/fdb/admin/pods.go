package admin

import (
	"cmp"
	"slices"
	"time"
)

// PodCandidate is a pod in which tools could be run, as the caller sees it.
type PodCandidate struct {
	Name string
	// Running: the pod's phase is Running and its main container is ready.
	Running bool
	// Terminating: the pod has a deletion timestamp.
	Terminating bool
	// Isolated: the pod's fdbserver is stopped on purpose.
	Isolated bool
	// Excluded: the process group is marked for removal or excluded.
	Excluded bool
	// Unready: somebody says that the pod is not ready although its main container is, as of
	// one whose node is not heard of any more.
	Unready bool
	// Silent: its servers do not report. They may have missed a change of coordinators, and
	// then the pod's cluster file leads nowhere.
	Silent bool
	// Answered: a tool that ran in it succeeded last. Whoever has found that a node is gone
	// shall not find it anew with every command.
	Answered bool
	// Coordinator: one of its processes is a reachable coordinator.
	Coordinator bool
	// Since is when the pod became ready: older ones are more likely to stay.
	Since time.Time
	// Node is where it runs. What is gone takes everything on its node along.
	Node string
}

// ChoosePods orders the pods that can be used, the best first: the one that answered last,
// reachable coordinators, then pods that are here to stay, then older ones, and of alike ones each on another node
// than those before. Excluded pods come after these, then silent ones, and those that are
// not ready last: they are better than none. Pods that do not run, are going away or are
// isolated are left out.
func ChoosePods(candidates []PodCandidate) []PodCandidate {
	usable := slices.DeleteFunc(slices.Clone(candidates), func(p PodCandidate) bool {
		return !p.Running || p.Terminating || p.Isolated
	})
	slices.SortStableFunc(usable, func(a, b PodCandidate) int {
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

// compareFaults puts the pod in front against which less speaks.
func compareFaults(a, b PodCandidate) int {
	return cmp.Or(compareBool(a.Unready, b.Unready), compareBool(a.Silent, b.Silent), compareBool(a.Excluded, b.Excluded))
}

// spread puts the first of each node before the second of any, among those against which
// the same speaks.
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
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(compareFaults(a.PodCandidate, b.PodCandidate), cmp.Compare(a.nth, b.nth))
	})
	for i, p := range all {
		pods[i] = p.PodCandidate
	}
	return pods
}

// compareBool puts false before true.
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
