package ui

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// How far an exclusion is, or its end; drained is that of a replacement, too.
const (
	phaseAsked    = "asked"  // it is excluded, and nobody can tell yet how far it is
	phaseMoving   = "moving" // its data or roles move away
	phaseExcluded = "excluded"
	phaseIncluded = "included"
)

// Exclusions are process groups that a person has excluded, as far as each is. Drained is
// what safety.Drained proves, and nothing less.
func Exclusions(f Facts, ids []v1beta2.ProcessGroupID) []Target {
	targets := make([]Target, len(ids))
	for i, id := range ids {
		if g := f.Cluster.ProcessGroup(id); g != nil {
			targets[i] = f.excluding(g)
		} else {
			targets[i] = Target{ID: string(id), Phase: phaseGone, Note: "it has left the cluster", Reached: true}
		}
	}
	return targets
}

func (f Facts) excluding(g *v1beta2.ProcessGroupStatus) Target {
	t := Target{ID: string(g.ProcessGroupID)}
	drained := safety.Drained(f.Snapshot, g)
	switch {
	case g.IsExcluded():
		t.Phase, t.Note, t.Reached = phaseDrained, "nothing depends on it any more; a removal proved it", true
	case f.Database.Status == nil:
		t.Phase, t.Note = phaseAsked, drained.Evidence
	case !safety.Excluded(f.Snapshot, g):
		t.Phase = phaseWaits
	case drained.OK:
		t.Phase, t.Note, t.Reached = phaseDrained, "nothing depends on it any more", true
	case f.exclusion(g) == ExclusionMoving:
		t.Phase, t.Note = phaseMoving, f.group(g).leftOn()
	default:
		t.Phase, t.Note = phaseAsked, drained.Evidence
	}
	return t
}

// Inclusions are process groups, and exclusions by their own names, that a person wants
// included, as far as each is.
func Inclusions(f Facts, ids []v1beta2.ProcessGroupID, names []string) []Target {
	var targets []Target
	for _, id := range ids {
		g := f.Cluster.ProcessGroup(id)
		targets = append(targets, f.including(string(id), g != nil && (f.isExcludedInDatabase(g) || safety.Excluded(f.Snapshot, g))))
	}
	for _, name := range names {
		inForce := f.Database.Status != nil && slices.Contains(f.Database.Status.ExcludedTargets(), name)
		targets = append(targets, f.including(name, inForce || slices.Contains(f.Coordination.Exclusions, name)))
	}
	return targets
}

func (f Facts) including(id string, excluded bool) Target {
	switch {
	case excluded:
		return Target{ID: id, Phase: phaseExcluded}
	case !f.Database.Status.ListsProcesses():
		return Target{ID: id, Phase: phaseExcluded, Note: phrase.Or(f.Database.Why(), "the database is unavailable")}
	default:
		return Target{ID: id, Phase: phaseIncluded, Reached: true}
	}
}

// ExcludedGroups are the process groups that an exclusion keeps out and that no removal
// needs to stay so.
func ExcludedGroups(f Facts) []v1beta2.ProcessGroupID {
	var ids []v1beta2.ProcessGroupID
	for _, g := range f.Groups() {
		if !g.IsMarkedForRemoval() && f.isExcludedInDatabase(g) {
			ids = append(ids, g.ProcessGroupID)
		}
	}
	return ids
}

// StrayExclusions are the exclusions in force that are no process group's of the record.
func StrayExclusions(f Facts) []string {
	if f.Database.Status == nil {
		return nil
	}
	return slices.DeleteFunc(f.Database.Status.ExcludedTargets(), func(target string) bool {
		return slices.ContainsFunc(f.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
			return target == g.ExclusionString() || slices.Contains(g.Addresses, target) || slices.Contains(g.Addresses, hostOf(target))
		})
	})
}
