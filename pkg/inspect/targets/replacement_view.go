package targets

import (
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
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
func Replacements(f inspect.Facts, ids []v1beta2.ProcessGroupID) []inspect.Target {
	targets, blockers := make([]inspect.Target, len(ids)), blockersOf(f)
	for i, id := range ids {
		if g := f.Cluster.ProcessGroup(id); g != nil {
			targets[i] = replacement(f.Group(g))
			if blocker := blockers[string(id)]; blocker != "" {
				targets[i].Note = blocker
			}
		} else {
			targets[i] = inspect.Target{ID: string(id), Phase: phaseRemoved, Reached: true}
		}
	}
	return targets
}

// blockersOf returns what keeps the successors of process groups from starting, by the process group that is replaced.
func blockersOf(f inspect.Facts) map[string]string {
	all := map[string]string{}
	for _, r := range f.Replacements(nil) {
		if r.Blocker != nil {
			all[r.ID] = inspect.BlockerWords(*r.Blocker)
		}
	}
	return all
}

func replacement(v inspect.GroupView) inspect.Target {
	t := inspect.Target{ID: v.ID}
	switch {
	case v.RemovalSince == nil:
		t.Phase = phasePending
	case (v.Proven || v.Exclusion == inspect.ExclusionSafe || v.Exclusion == inspect.ExclusionSkipped) && v.PodPhase == "":
		t.Phase, t.Note = phaseDeleted, "its exclusion and its status entry remain"
	case v.Exclusion == inspect.ExclusionSafe:
		t.Phase, t.Note = phaseDrained, "nothing depends on it any more"
	case v.Exclusion == inspect.ExclusionSkipped:
		t.Phase, t.Note = phaseDraining, "removed without being drained, as specified"
	case v.Exclusion == inspect.NotExcluded, v.Exclusion == inspect.ExclusionPending:
		t.Phase, t.Note = phaseMarked, "it is excluded once its replacement reports"
	case v.Exclusion == inspect.ExclusionUnknown:
		t.Phase, t.Note = phaseMarked, "cannot determine whether it is excluded"
	default:
		t.Phase, t.Note = phaseDraining, leftOn(v)
	}
	return t
}

// leftOn returns what is still to be moved off a process group, in words.
func leftOn(v inspect.GroupView) string {
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
func Kept(f inspect.Facts, ids []v1beta2.ProcessGroupID) []inspect.Target {
	targets := make([]inspect.Target, len(ids))
	for i, id := range ids {
		targets[i] = inspect.Target{ID: string(id), Phase: "kept", Reached: true}
		switch g := f.Cluster.ProcessGroup(id); {
		case g == nil:
			targets[i].Phase, targets[i].Reached = phaseRemoved, false
		case g.IsMarkedForRemoval():
			targets[i] = replacement(f.Group(g))
			targets[i].Reached = false
		}
	}
	return targets
}
