package status

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// PublishSharedLists adds to the write of a status the entries for the other control-plane instances
// in global synchronization mode: which process groups are removed, and which are to be excluded,
// included or restarted. The stages that act announce which groups are ready for that.
//
// The operator reads the entries of a control-plane instance "dc10" as those of "dc1", and all
// entries as those of one without a name, and takes them for its own leftovers; here an entry
// belongs to the control-plane instance that its key names in full.
func PublishSharedLists(s plan.Snapshot, status v1beta2.FoundationDBClusterStatus, d plan.Decision) plan.Decision {
	if !safety.ActsTogether(s.Cluster) || !s.Database.Available() {
		return d // nothing can be published, and the stages that would act wait
	}
	if !s.Coordination.Lists.Read {
		d.Hold = &plan.Hold{Code: plan.HoldSharedListsUnread, Reason: readings.ListsUnread, RetryAfter: plan.PodDelay}
		return d
	}
	s.Cluster = s.Cluster.DeepCopy()
	s.Cluster.Status = status
	if change := ownEntries(s); !change.IsEmpty() {
		d.Why = cmp.Or(d.Why, "control-plane instances act together by the shared lists")
		d.Actions = append(d.Actions, change)
	}
	for _, change := range formerEntries(s) {
		d.Why = cmp.Or(d.Why, "spec.processGroupIDPrefix changed, and entries with the former one would block all control-plane instances")
		d.Actions = append(d.Actions, change)
	}
	return d
}

// formerEntries removes the entries that this control-plane instance listed under a former prefix:
// what still applies is listed again under the present one. An entry is its own if the process
// group is in its status, and named for that prefix.
func formerEntries(s plan.Snapshot) []plan.ChangeLists {
	lists, by := s.Coordination.Lists, map[string]plan.ChangeLists{}
	former := func(m fdb.Member) bool {
		return m.Instance != s.Cluster.Spec.ProcessGroupIDPrefix && m.IsNamedForIt() && s.Cluster.ProcessGroup(v1beta2.ProcessGroupID(m.Group)) != nil
	}
	for _, list := range fdb.SharedLists() {
		for _, m := range lists.Members(list) {
			if former(m) {
				change := by[m.Instance]
				change.Remove = readings.With(change.Remove, list, v1beta2.ProcessGroupID(m.Group))
				by[m.Instance] = change
			}
		}
	}
	for m := range lists.Addresses {
		if former(m) {
			change := by[m.Instance]
			if change.Addresses == nil {
				change.Addresses = map[v1beta2.ProcessGroupID][]string{}
			}
			change.Addresses[v1beta2.ProcessGroupID(m.Group)] = nil
			by[m.Instance] = change
		}
	}
	var changes []plan.ChangeLists
	for _, prefix := range slices.Sorted(maps.Keys(by)) {
		change := by[prefix]
		change.Former, change.At = &prefix, s.Now
		changes = append(changes, change)
	}
	return changes
}

// ownEntries returns the changes that update the own entries of the lists.
func ownEntries(s plan.Snapshot) plan.ChangeLists {
	e := readings.ListEditor{S: s, Change: plan.ChangeLists{At: s.Now}, Restartable: readings.Restartable(s, readings.CollectBounce(s))}
	for _, g := range s.Groups() {
		listRestart(&e, g)
		listRemoval(&e, g)
	}
	forgetVanished(&e)
	return e.Change
}

// listRestart lists groups that run with other arguments than they would start with. A group that is
// not waited for, and one that the spec keeps from restarting, would block all control-plane
// instances. A group that is not ready any more, because its configuration or its pod changed
// again, is withdrawn.
func listRestart(e *readings.ListEditor, g *v1beta2.ProcessGroupStatus) {
	if g.HasCondition(v1beta2.ConditionIncorrectCommandLine) && canRestart(e.S, g) {
		e.Add(g, fdb.PendingForRestart)
	} else {
		e.Drop(g.ProcessGroupID, fdb.PendingForRestart)
	}
	if !slices.Contains(e.Restartable, g.ProcessGroupID) {
		e.Drop(g.ProcessGroupID, fdb.ReadyForRestart)
	}
}

func canRestart(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return s.Cluster.KillProcesses() && !g.HasCondition(v1beta2.ConditionResourcesTerminating) && !readings.MissingTooLong(s, g) && !readings.PendingTooLong(s, g) &&
		!slices.Contains(s.Cluster.Spec.Buggify.IgnoreDuringRestart, g.ProcessGroupID)
}

// listRemoval lists groups that are marked for removal, and their progress. A group that stays is on
// none of these lists: another control-plane instance would exclude it. Nor is one that the spec
// keeps, and that is marked until its exclusion has ended.
//
// The operator lists a group as ready for inclusion once its pod terminates; its process may still
// run then and would get data again, so here the stage that finds all objects deleted lists it.
func listRemoval(e *readings.ListEditor, g *v1beta2.ProcessGroupStatus) {
	if !g.IsMarkedForRemoval() || readings.KeptNow(e.S, g) {
		e.Drop(g.ProcessGroupID, removalLists()...)
		e.KeepAddresses(g.ProcessGroupID, nil)
		return
	}
	if !g.ProcessClass.IsTester() {
		e.KeepAddresses(g.ProcessGroupID, g.Addresses)
	}
	e.Add(g, fdb.PendingForRemoval, fdb.PendingForInclusion)
	if !isExcludedByNow(e.S, g) {
		e.Add(g, fdb.PendingForExclusion)
		return
	}
	e.Drop(g.ProcessGroupID, fdb.PendingForExclusion, fdb.ReadyForExclusion)
	if g.ExclusionSkipped {
		e.Add(g, fdb.ReadyForInclusion)
	}
}

func removalLists() []fdb.SharedList {
	return []fdb.SharedList{fdb.PendingForRemoval, fdb.PendingForExclusion, fdb.ReadyForExclusion, fdb.PendingForInclusion, fdb.ReadyForInclusion}
}

// isExcludedByNow reports whether a group needs no exclusion: it was drained, or all of its
// exclusions are on the database's own list. A group that does not report may be on that list while
// no process shows it.
func isExcludedByNow(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	e := readings.NewExclusions(s)
	e.Classify(g)
	return g.IsExcluded() || e.Ongoing[g.ProcessClass] > 0
}

// forgetVanished removes the entries of groups that are not in the status any more. Testers, which
// are never listed, count as such.
func forgetVanished(e *readings.ListEditor) {
	lists := e.S.Coordination.Lists
	vanished := func(id v1beta2.ProcessGroupID) bool {
		g := e.S.Cluster.ProcessGroup(id)
		return g == nil || g.ProcessClass.IsTester()
	}
	for _, list := range fdb.SharedLists() {
		for _, id := range lists.Own(list, e.Instance()) {
			if vanished(id) {
				e.Drop(id, list)
			}
		}
	}
	for _, m := range slices.SortedFunc(maps.Keys(lists.Addresses), fdb.Member.Compare) {
		if id := v1beta2.ProcessGroupID(m.Group); m.Instance == e.Instance() && vanished(id) {
			e.KeepAddresses(id, nil)
		}
	}
}
