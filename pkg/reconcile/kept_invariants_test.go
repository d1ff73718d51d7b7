package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// keptInvariants are those about process groups that the spec keeps from being replaced.
var keptInvariants = []invariant{
	{"nothing is included while its pod or PVC is being deleted", beforeAction, includesWhatEnds},
	{"nothing marks a process group that the spec keeps", beforeAction, marksWhatIsKept},
	{"only exclusions of process groups that the spec keeps end before a removal", afterAction, includesOthers},
	{"what the spec keeps stays, and is not excluded, within 60 passes without troubles", onceKept, doesNotKeep},
	{"no class ends with more process groups than are desired or kept", onceKept, countsDiffer},
	{"the counts end as desired", atTheEnd, countsDiffer},
}

// passesToKeep is how many passes of each control-plane instance it may take until everything is kept that the
// spec keeps: an inclusion waits ten minutes after each recovery.
const passesToKeep = 60

// keeps reports whether the spec of a control-plane instance keeps process groups.
func (h *history) keeps() bool {
	return slices.ContainsFunc(h.clusters, func(w *sim.Cluster) bool { return len(w.Resource.Spec.CancelReplacementsForInstance) > 0 })
}

// keepWhatIsListed makes passes until everything is kept that the spec keeps, and then empties the
// lists: what differs from the spec and is kept is never reconciled.
func (h *history) keepWhatIsListed() {
	if !h.keeps() {
		return
	}
	for range passesToKeep {
		h.repair()
		h.passOfEach()
		if h.violated() {
			return
		}
		if doesNotKeep(h, nil) == "" && countsDiffer(h, nil) == "" {
			break
		}
		h.w.Tick(h.longestWait())
	}
	if h.judge(onceKept, nil); h.violated() {
		return
	}
	h.editAll(func(s *v1beta2.FoundationDBClusterSpec) { s.CancelReplacementsForInstance = nil })
	h.logf("spec: nothing is kept any more")
}

// keptGroups are the groups that the spec keeps and that can be kept: no other list of the spec
// contradicts that, and no object of them is being deleted.
func keptGroups(w *sim.Cluster) []*v1beta2.ProcessGroupStatus {
	var kept []*v1beta2.ProcessGroupStatus
	for _, g := range w.Resource.Status.ProcessGroups {
		removed := slices.Contains(w.Resource.Spec.ProcessGroupsToRemove, g.ProcessGroupID) || slices.Contains(w.Resource.Spec.ProcessGroupsToRemoveWithoutExclusion, g.ProcessGroupID)
		if w.Resource.KeepsFromReplacement(g.ProcessGroupID) && !removed && !objectsEnd(w, g) {
			kept = append(kept, g)
		}
	}
	return kept
}

// objectsEnd reports whether the pod or the PVC of a group is being deleted, or the PVC is deleted.
func objectsEnd(w *sim.Cluster, g *v1beta2.ProcessGroupStatus) bool {
	pod, claim := w.Pods[g.PodName(w.Resource)], w.Volumes[g.PVCName(w.Resource)]
	return (pod != nil && pod.DeletionTimestamp != nil) || (claim != nil && claim.DeletionTimestamp != nil) || (claim == nil && g.ProcessClass.IsStateful())
}

func includesWhatEnds(h *history, d *deed) string {
	a, is := d.action.(plan.Include)
	if !is {
		return ""
	}
	for _, id := range a.Groups {
		if g := h.w.Resource.ProcessGroup(id); g == nil || objectsEnd(h.w, g) {
			return string(id)
		}
	}
	return ""
}

func marksWhatIsKept(h *history, d *deed) string {
	var marked []v1beta2.ProcessGroupID
	switch a := d.action.(type) { //nolint:gochecksumtype // the others mark nothing
	case plan.MarkForRemoval:
		marked = a.Groups
	case plan.WriteStatus:
		for _, g := range a.Status.ProcessGroups {
			if old := h.w.Resource.ProcessGroup(g.ProcessGroupID); old != nil && g.IsMarkedForRemoval() && !old.IsMarkedForRemoval() {
				marked = append(marked, g.ProcessGroupID)
			}
		}
	}
	for _, id := range marked {
		if h.w.Resource.KeepsFromReplacement(id) {
			return string(id)
		}
	}
	return ""
}

// includesOthers judges inclusions of groups that are not removed.
func includesOthers(h *history, d *deed) string {
	if _, is := d.action.(plan.Include); !is {
		return ""
	}
	for _, target := range d.before.excluded {
		if !slices.Contains(d.after.excluded, target) && !isOfOne(target, keptGroups(h.w)) {
			return target
		}
	}
	return ""
}

// isOfOne reports whether an exclusion is of one of the groups.
func isOfOne(target string, groups []*v1beta2.ProcessGroupStatus) bool {
	return slices.ContainsFunc(groups, func(g *v1beta2.ProcessGroupStatus) bool {
		return g.ExclusionString() == target || slices.Contains(g.Addresses, target)
	})
}

func doesNotKeep(h *history, _ *deed) string {
	for _, w := range h.clusters {
		for _, g := range keptGroups(w) {
			if g.IsMarkedForRemoval() {
				return fmt.Sprintf("%s is marked for removal", g.ProcessGroupID)
			}
		}
		for _, target := range h.database().Excluded() {
			if isOfOne(target, keptGroups(w)) {
				return target + " is excluded"
			}
		}
	}
	return ""
}

// countsDiffer compares the groups that stay with the desired ones, and with those that the spec
// keeps where these are more.
func countsDiffer(h *history, _ *deed) string {
	if h.settling {
		return "" // judged before
	}
	for _, w := range h.clusters {
		normalized, err := w.Resource.Normalized()
		if err != nil {
			return err.Error()
		}
		remaining, kept := map[v1beta2.ProcessClass]int{}, map[v1beta2.ProcessClass]int{}
		desired := normalized.DesiredProcessCounts()
		for _, g := range w.Resource.Status.ProcessGroups {
			if g.IsMarkedForRemoval() {
				continue
			}
			remaining[g.ProcessClass]++
			if w.Resource.KeepsFromReplacement(g.ProcessGroupID) {
				kept[g.ProcessClass]++
			}
		}
		for class, n := range remaining {
			if want := max(desired[class], kept[class], 0); n != want {
				return fmt.Sprintf("%d %s process groups stay, %d desired, %d kept", n, class, desired[class], kept[class])
			}
		}
	}
	return ""
}

var keptProblems = []problem{
	{"the spec keeps process groups", 4, func(h *history, dice *rand.Rand) {
		var ids []v1beta2.ProcessGroupID
		for range 1 + dice.IntN(3) {
			if g := h.groupToKeep(dice); g != nil && !slices.Contains(ids, g.ProcessGroupID) {
				ids = append(ids, g.ProcessGroupID)
			}
		}
		h.edit(keep(ids...))
		h.logf("spec: keep %v", ids)
	}},
	{"the spec keeps nothing any more", 2, func(h *history, _ *rand.Rand) {
		h.edit(keep())
		h.logf("spec: nothing is kept any more")
	}},
	{"a user deletes the PVC of a group that was drained", 1, func(h *history, dice *rand.Rand) {
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
func (h *history) groupToKeep(dice *rand.Rand) *v1beta2.ProcessGroupStatus {
	anyOne, marked := h.group(dice), h.groupThat(dice, (*v1beta2.ProcessGroupStatus).IsMarkedForRemoval)
	if dice.IntN(4) > 0 && marked != nil {
		return marked
	}
	return anyOne
}

// groupThat is one of the groups of the record that a question is true of, by a throw of the dice,
// or nil.
func (h *history) groupThat(dice *rand.Rand, is func(*v1beta2.ProcessGroupStatus) bool) *v1beta2.ProcessGroupStatus {
	groups := slices.DeleteFunc(slices.Clone(h.w.Resource.Status.ProcessGroups), func(g *v1beta2.ProcessGroupStatus) bool { return !is(g) })
	n := dice.IntN(1 << 16)
	if len(groups) == 0 {
		return nil
	}
	return groups[n%len(groups)]
}
