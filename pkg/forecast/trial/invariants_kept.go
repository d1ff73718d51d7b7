package trial

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// keptInvariants are those about process groups that the spec keeps from being replaced.
var keptInvariants = []invariant{
	{"includes-what-ends", "nothing is included while its pod or PVC is being deleted", beforeAction, includesWhatEnds},
	{"marks-what-is-kept", "nothing marks a process group that the spec keeps", beforeAction, marksWhatIsKept},
	{"includes-others", "only exclusions of process groups that the spec keeps end before a removal", afterAction, includesOthers},
	{"does-not-keep", "what the spec keeps stays, and is not excluded, within 60 passes without troubles", onceKept, doesNotKeep},
	{"counts-stay-larger", "no class ends with more process groups than are desired or kept", onceKept, countsDiffer},
	{"counts-differ", "the counts end as desired", atTheEnd, countsDiffer},
}

// passesToKeep is how many passes of each control-plane instance it may take until everything is kept that the
// spec keeps: an inclusion waits ten minutes after each recovery.
const passesToKeep = 60

// keeps reports whether the spec of a control-plane instance keeps process groups.
func (h *History) keeps() bool {
	return slices.ContainsFunc(h.clusters, func(w *sim.Cluster) bool { return len(w.Resource.Spec.CancelReplacementsForInstance) > 0 })
}

// keepWhatIsListed makes passes until everything is kept that the spec keeps, and then empties the
// lists: what differs from the spec and is kept is never reconciled.
func (h *History) keepWhatIsListed(ctx context.Context) {
	if !h.keeps() {
		return
	}
	for range passesToKeep {
		h.repair()
		h.passOfEach(ctx)
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

func includesWhatEnds(h *History, d *deed) string {
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

func marksWhatIsKept(h *History, d *deed) string {
	var marked []v1beta2.ProcessGroupID
	switch a := any(d.action).(type) { // the others mark nothing
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
func includesOthers(h *History, d *deed) string {
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

func doesNotKeep(h *History, _ *deed) string {
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
func countsDiffer(h *History, _ *deed) string {
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
				return fmt.Sprintf("%s: %d stay, %d desired, %d kept", class, n, desired[class], kept[class])
			}
		}
	}
	return ""
}
