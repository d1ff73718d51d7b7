package targets

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// The phases of an exclusion and of its end; pending, drained and removed are those of a
// replacement, too.
const (
	phaseRequested = "requested" // it is excluded, and its progress is unknown yet
	phaseMoving    = "moving"    // its data or roles are moving off
	phaseExcluded  = "excluded"
	phaseIncluded  = "included"
)

// Exclusions returns the progress of process groups that the user excludes. A group is
// drained only when safety.Drained proves it.
func Exclusions(f inspect.Facts, ids []v1beta2.ProcessGroupID) []inspect.Target {
	targets := make([]inspect.Target, len(ids))
	for i, id := range ids {
		if g := f.Cluster.ProcessGroup(id); g != nil {
			targets[i] = excluding(f, g)
		} else {
			targets[i] = inspect.Target{ID: string(id), Phase: phaseRemoved, Note: "it was removed from the cluster", Reached: true}
		}
	}
	return targets
}

func excluding(f inspect.Facts, g *v1beta2.ProcessGroupStatus) inspect.Target {
	t := inspect.Target{ID: string(g.ProcessGroupID)}
	drained := safety.Drained(f.Snapshot, g)
	switch {
	case g.IsExcluded():
		t.Phase, t.Note, t.Reached = phaseDrained, "nothing depends on it any more; a removal proved it", true
	case f.Database.Status == nil:
		t.Phase, t.Note = phaseRequested, drained.Evidence
	case !safety.Excluded(f.Snapshot, g):
		t.Phase = phasePending
	case drained.OK:
		t.Phase, t.Note, t.Reached = phaseDrained, "nothing depends on it any more", true
	case f.Exclusion(g) == inspect.ExclusionMoving:
		t.Phase, t.Note = phaseMoving, leftOn(f.Group(g))
	default:
		t.Phase, t.Note = phaseRequested, drained.Evidence
	}
	return t
}

// Inclusions returns the progress of process groups, and of exclusions by their own names,
// that the user includes again.
func Inclusions(f inspect.Facts, ids []v1beta2.ProcessGroupID, names []string) []inspect.Target {
	var targets []inspect.Target
	for _, id := range ids {
		g := f.Cluster.ProcessGroup(id)
		t := including(f, string(id))
		if g != nil && (f.IsExcludedInDatabase(g) || safety.Excluded(f.Snapshot, g)) {
			t = excluded(string(id))
		}
		targets = append(targets, t)
	}
	for _, name := range names {
		inForce := f.Database.Status != nil && slices.Contains(f.Database.Status.ExcludedTargets(), name)
		t := including(f, name)
		if inForce || slices.Contains(f.Coordination.Exclusions, name) {
			t = excluded(name)
		}
		targets = append(targets, t)
	}
	return targets
}

func excluded(id string) inspect.Target { return inspect.Target{ID: id, Phase: phaseExcluded} }

// including returns the progress of what no list has as excluded.
func including(f inspect.Facts, id string) inspect.Target {
	if !f.Database.Status.ListsProcesses() {
		return inspect.Target{ID: id, Phase: phaseExcluded, Note: phrase.Or(f.Database.Why(), "the database is unavailable")}
	}
	return inspect.Target{ID: id, Phase: phaseIncluded, Reached: true}
}

// ExcludedGroups returns the process groups that are excluded and not marked for removal.
func ExcludedGroups(f inspect.Facts) []v1beta2.ProcessGroupID {
	var ids []v1beta2.ProcessGroupID
	for _, g := range f.Groups() {
		if !g.IsMarkedForRemoval() && f.IsExcludedInDatabase(g) {
			ids = append(ids, g.ProcessGroupID)
		}
	}
	return ids
}

// StrayExclusions returns the exclusions in force that cover no process group in the status.
func StrayExclusions(f inspect.Facts) []string {
	if f.Database.Status == nil {
		return nil
	}
	return slices.DeleteFunc(f.Database.Status.ExcludedTargets(), func(target string) bool {
		return slices.ContainsFunc(f.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
			return target == g.ExclusionString() || slices.Contains(g.Addresses, target) || slices.Contains(g.Addresses, inspect.HostOf(target))
		})
	})
}

// Removed marks targets as reached whose removal is complete except for housekeeping. It
// reports whether there are such targets and all are reached now.
func Removed(targets []inspect.Target, left []plan.Housekeeping) ([]inspect.Target, bool) {
	taken := false
	targets = slices.Clone(targets)
	for i, t := range targets {
		if t.Phase == phaseDeleted && isLeft(left, v1beta2.ProcessGroupID(t.ID)) {
			targets[i].Reached, targets[i].Note, taken = true, "a later pass ends its exclusion", true
		}
	}
	return targets, taken && inspect.AllReached(targets)
}

func isLeft(left []plan.Housekeeping, id v1beta2.ProcessGroupID) bool {
	return slices.ContainsFunc(left, func(h plan.Housekeeping) bool { return slices.Contains(h.Groups, id) })
}

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

// Restarts returns the progress of process groups that are being restarted. One that was
// removed from the cluster has nothing left to restart.
func Restarts(f inspect.Facts, ids []v1beta2.ProcessGroupID, since time.Time) []inspect.Target {
	targets := make([]inspect.Target, len(ids))
	for i, id := range ids {
		g := f.Cluster.ProcessGroup(id)
		progress := safety.RestartOfNone
		if g != nil {
			progress = safety.RestartedSince(f.Snapshot, g, since)
		}
		if progress == safety.RestartOfNone {
			targets[i] = inspect.Target{ID: string(id), Phase: phaseRemoved, Note: "it was removed from the cluster", Reached: true}
			continue
		}
		targets[i] = inspect.Target{ID: string(id), Phase: restartPhases[progress], Note: restartNotes[progress], Reached: progress == safety.RestartDone}
	}
	return targets
}

var restartPhases = map[safety.Restarted]string{
	safety.RestartDue: phasePending, safety.RestartUnknown: "not-reporting", safety.RestartDone: "restarted",
}

var restartNotes = map[safety.Restarted]string{
	safety.RestartUnknown: "not all of its processes report, or their start time is unknown",
	safety.RestartDone:    "all of its processes have restarted",
}
