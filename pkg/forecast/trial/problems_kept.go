package trial

import (
	"math/rand/v2"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

var keptProblems = []problem{
	{"groups-kept", "the spec keeps process groups", 4, aGroup, func(h *History, dice *rand.Rand) {
		var ids []v1beta2.ProcessGroupID
		for range 1 + dice.IntN(3) {
			if g := h.groupToKeep(dice); g != nil && !slices.Contains(ids, g.ProcessGroupID) {
				ids = append(ids, g.ProcessGroupID)
			}
		}
		h.edit(Keep(ids...))
		h.logf("spec: keep %v", ids)
	}},
	{"nothing-kept", "the spec keeps nothing any more", 2, noGroup, func(h *History, _ *rand.Rand) {
		h.edit(Keep())
		h.logf("spec: nothing is kept any more")
	}},
	{"user-deletes-drained-pvc", "a user deletes the PVC of a group that was drained", 1, aGroup, func(h *History, dice *rand.Rand) {
		g := h.groupThat(dice, func(g *v1beta2.ProcessGroupStatus) bool {
			return g.IsMarkedForRemoval() && g.ProcessClass.IsStateful() && !h.needs(g.PodName(h.w.Resource)) && h.w.Volumes[g.PVCName(h.w.Resource)] != nil
		})
		if g != nil {
			h.logf("a user deletes the PVC of %s", g.ProcessGroupID)
			h.w.DeleteClaim(g.PVCName(h.w.Resource))
		}
	}},
}

// groupToKeep is mostly one that is marked for removal, where there is one.
func (h *History) groupToKeep(dice *rand.Rand) *v1beta2.ProcessGroupStatus {
	anyOne, marked := h.group(dice), h.groupThat(dice, (*v1beta2.ProcessGroupStatus).IsMarkedForRemoval)
	if dice.IntN(4) > 0 && marked != nil {
		return marked
	}
	return anyOne
}

// groupThat is one of the groups of the resource that a question is true of, by a throw of the dice,
// or nil.
func (h *History) groupThat(dice *rand.Rand, is func(*v1beta2.ProcessGroupStatus) bool) *v1beta2.ProcessGroupStatus {
	if g := h.w.Resource.ProcessGroup(h.aim); g != nil && is(g) {
		return g
	}
	groups := slices.DeleteFunc(slices.Clone(h.w.Resource.Status.ProcessGroups), func(g *v1beta2.ProcessGroupStatus) bool { return !is(g) })
	n := dice.IntN(1 << 16)
	if len(groups) == 0 {
		return nil
	}
	return groups[n%len(groups)]
}

// Keep has the spec keep process groups from being replaced, and no others.
func Keep(ids ...v1beta2.ProcessGroupID) func(*v1beta2.FoundationDBClusterSpec) {
	return func(s *v1beta2.FoundationDBClusterSpec) { s.CancelReplacementsForInstance = ids }
}
