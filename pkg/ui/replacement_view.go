package ui

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// How far the replacement of a process group is.
const (
	phaseWaits   = "waits"   // it is not marked yet
	phaseMarked  = "marked"  // nothing was moved away yet
	phaseLeaving = "leaving" // its data and roles move away
	phaseDrained = "drained" // proven: nothing depends on it
	phaseRemoved = "removed" // its pod is gone
	phaseGone    = "gone"    // its record is gone, and its exclusion with it
)

// Replacements are the process groups that are being replaced, as far as each is. A group
// is there when its record is gone: that goes last.
func Replacements(f Facts, ids []v1beta2.ProcessGroupID) []Target {
	targets := make([]Target, len(ids))
	for i, id := range ids {
		if g := f.Cluster.ProcessGroup(id); g != nil {
			targets[i] = f.group(g).replacement()
		} else {
			targets[i] = Target{ID: string(id), Phase: phaseGone, Reached: true}
		}
	}
	return targets
}

func (v GroupView) replacement() Target {
	t := Target{ID: v.ID}
	switch {
	case v.RemovalSince == nil:
		t.Phase = phaseWaits
	case (v.proven || v.Exclusion == ExclusionSafe || v.Exclusion == ExclusionSkipped) && v.PodPhase == "":
		t.Phase, t.Note = phaseRemoved, "its exclusion and its record are still there"
	case v.Exclusion == ExclusionSafe:
		t.Phase, t.Note = phaseDrained, "nothing depends on it any more"
	case v.Exclusion == ExclusionSkipped:
		t.Phase, t.Note = phaseLeaving, "without being drained, as the spec asks"
	case v.Exclusion == NotExcluded, v.Exclusion == ExclusionWanted:
		t.Phase, t.Note = phaseMarked, "it is excluded once its replacement reports"
	case v.Exclusion == ExclusionUnknown:
		t.Phase, t.Note = phaseMarked, "nobody can tell whether it is excluded"
	default:
		t.Phase, t.Note = phaseLeaving, v.leftOn()
	}
	return t
}

// leftOn says what is still to be moved away.
func (v GroupView) leftOn() string {
	switch {
	case v.Roles == nil:
		return "what is left on it is not known"
	case len(v.Roles) == 0:
		return "no roles left; that nothing depends on it has to be proven yet"
	default:
		return phrase.BytesOr(v.StoredBytes, phrase.UnknownCell) + " stored, roles " + strings.Join(v.Roles, ",")
	}
}

// Kept are process groups that are to stay, as far as each is.
func Kept(f Facts, ids []v1beta2.ProcessGroupID) []Target {
	targets := make([]Target, len(ids))
	for i, id := range ids {
		targets[i] = Target{ID: string(id), Phase: "stays", Reached: true}
		switch g := f.Cluster.ProcessGroup(id); {
		case g == nil:
			targets[i].Phase, targets[i].Reached = phaseGone, false
		case g.IsMarkedForRemoval():
			targets[i].Phase, targets[i].Reached = phaseMarked, false
		}
	}
	return targets
}

// AllReached reports whether all targets are where they should be.
func AllReached(targets []Target) bool {
	return !slices.ContainsFunc(targets, func(t Target) bool { return !t.Reached })
}
