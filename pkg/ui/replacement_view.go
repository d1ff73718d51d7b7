package ui

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// The phases of the replacement of a process group.
const (
	phasePending  = "pending"  // not marked for removal yet
	phaseMarked   = "marked"   // no data moved yet
	phaseDraining = "draining" // its data and roles are moving off
	phaseDrained  = "drained"  // proven: nothing depends on it
	phaseDeleted  = "deleted"  // its pod is deleted
	phaseRemoved  = "removed"  // it is not in the status, and not excluded
)

// Replacements returns the progress of process groups that are being replaced. A target is
// reached once the group is not in the status: its entry is the last thing to be removed.
func Replacements(f Facts, ids []v1beta2.ProcessGroupID) []Target {
	targets := make([]Target, len(ids))
	for i, id := range ids {
		if g := f.Cluster.ProcessGroup(id); g != nil {
			targets[i] = f.group(g).replacement()
		} else {
			targets[i] = Target{ID: string(id), Phase: phaseRemoved, Reached: true}
		}
	}
	return targets
}

func (v GroupView) replacement() Target {
	t := Target{ID: v.ID}
	switch {
	case v.RemovalSince == nil:
		t.Phase = phasePending
	case (v.proven || v.Exclusion == ExclusionSafe || v.Exclusion == ExclusionSkipped) && v.PodPhase == "":
		t.Phase, t.Note = phaseDeleted, "its exclusion and its status entry remain"
	case v.Exclusion == ExclusionSafe:
		t.Phase, t.Note = phaseDrained, "nothing depends on it any more"
	case v.Exclusion == ExclusionSkipped:
		t.Phase, t.Note = phaseDraining, "removed without being drained, as specified"
	case v.Exclusion == NotExcluded, v.Exclusion == ExclusionPending:
		t.Phase, t.Note = phaseMarked, "it is excluded once its replacement reports"
	case v.Exclusion == ExclusionUnknown:
		t.Phase, t.Note = phaseMarked, "cannot determine whether it is excluded"
	default:
		t.Phase, t.Note = phaseDraining, v.leftOn()
	}
	return t
}

// leftOn returns what is still to be moved off a process group, in words.
func (v GroupView) leftOn() string {
	switch {
	case v.Roles == nil:
		return "its remaining data and roles are unknown"
	case len(v.Roles) == 0:
		return "no roles left; not proven yet that nothing depends on it"
	default:
		return phrase.BytesOr(v.StoredBytes, phrase.UnknownCell) + " stored, roles " + strings.Join(v.Roles, ",")
	}
}

// Kept returns the progress of process groups whose removal is canceled.
func Kept(f Facts, ids []v1beta2.ProcessGroupID) []Target {
	targets := make([]Target, len(ids))
	for i, id := range ids {
		targets[i] = Target{ID: string(id), Phase: "kept", Reached: true}
		switch g := f.Cluster.ProcessGroup(id); {
		case g == nil:
			targets[i].Phase, targets[i].Reached = phaseRemoved, false
		case g.IsMarkedForRemoval():
			targets[i].Phase, targets[i].Reached = phaseMarked, false
		}
	}
	return targets
}

// AllReached reports whether all targets are reached.
func AllReached(targets []Target) bool {
	return !slices.ContainsFunc(targets, func(t Target) bool { return !t.Reached })
}
