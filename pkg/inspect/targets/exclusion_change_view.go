package targets

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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
