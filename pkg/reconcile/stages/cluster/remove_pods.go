package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// RemovePods deletes the objects of process groups that are proven to be drained, one fault
// domain at a time, then ends their exclusions and removes them from the status. A group that
// is stuck never blocks another.
//
// In global synchronization mode the exclusions of the removed groups of all control-plane
// instances end at once; see together.
//
// The operator proves that a group without reporting processes is drained by repeating the
// exclusion; that command reports "safe" for processes that still hold data or roles, and
// nothing for dead ones. The proof here is the status document: see safety.Drained.
var RemovePods = plan.Stage{
	Name:  plan.StageRemovePods,
	Reads: plan.ClusterResource | plan.Pods | plan.Volumes | plan.Services | plan.Database | plan.Coordination,

	More: plan.Nodes, Matters: func(s plan.Snapshot) bool { return plan.NodesMatter(s.Cluster, s.Now) },
	Decide: func(s plan.Snapshot) plan.Decision {
		r := removal{s: s}
		for _, g := range s.Groups() {
			if g.IsMarkedForRemoval() {
				r.judge(g)
			}
		}
		d := r.record()
		r.forget(&d)
		r.delete(&d)
		r.hold(&d)
		return d
	},
}

// When to check again: for data that moves, and for fault tolerance that is restored.
const (
	RemovalRetry   = 15 * time.Second
	ToleranceRetry = 30 * time.Second
)

// MinRecoveryAgeToInclude is the minimum time since the last recovery before exclusions end,
// which changes the configuration of every process. Default 600 s; source: the operator's flag
// minimum-recovery-time-for-inclusion.
const MinRecoveryAgeToInclude = 10 * time.Minute

// removal classifies the groups that are marked for removal.
type removal struct {
	s         plan.Snapshot
	proven    []v1beta2.ProcessGroupID      // drained, and not yet recorded in the status
	marked    []*v1beta2.ProcessGroupStatus // drained, with objects left
	removable []*v1beta2.ProcessGroupStatus // drained, without objects
	checks    []plan.Check
	waiting   readings.Waits
	kept      readings.Waits // what time does not end: a user, a node or a finalizer keeps it
	stuck     []stuckObjects
}

// hold adds why the stage has more to do. What time does not end requires manual intervention, and is
// reported by itself only once nothing else is left to wait for.
func (r *removal) hold(d *plan.Decision) {
	r.addStuck()
	switch {
	case d.Hold != nil:
	case len(r.waiting.Reasons) == 0 && len(d.Actions) == 0:
		if d.Hold = r.kept.Hold(plan.HoldObjectsStuck, "", 0); d.Hold != nil {
			d.Hold.Manual, d.Hold.Aside = true, true
		}
	default:
		r.waiting.Subjects = append(r.waiting.Subjects, r.kept.Subjects...)
		r.waiting.Reasons = append(r.waiting.Reasons, r.kept.Reasons...)
		d.Hold = r.waiting.Hold(plan.HoldRemovalsPending, "", RemovalRetry)
	}
}

func (r *removal) judge(g *v1beta2.ProcessGroupStatus) {
	if slices.Contains(r.s.Cluster.Spec.Buggify.BlockRemoval, g.ProcessGroupID) {
		r.kept.Add(g.ProcessGroupID, "%s is kept by spec.buggify.blockRemoval", g.ProcessGroupID)
		return
	}
	if readings.KeptNow(r.s, g) {
		r.waiting.Add(g.ProcessGroupID, "%s is kept by %s", g.ProcessGroupID, readings.KeepField)
		return
	}
	if other := r.objects(g).Foreign(r.s.Cluster, g); other != "" {
		r.kept.Add(g.ProcessGroupID, "%s does not belong to %s by its labels and is kept", other, g.ProcessGroupID)
		return
	}
	if g.IsExcluded() && r.objects(g) == (readings.LeftoverObjects{}) {
		// It was proven drained and has no objects. Its exclusion may have ended already, by a
		// run that died before it removed the group from the status.
		if why := safety.UnnoticedLoss(r.s, g); why != "" {
			r.waiting.Add(g.ProcessGroupID, "%s", why)
			return
		}
		if why := safety.StillRuns(r.s, g); why != "" {
			r.waiting.Add(g.ProcessGroupID, "%s", why)
			return
		}
		r.removable = append(r.removable, g)
		return
	}
	if !g.ExclusionSkipped && !safety.NoDatabaseYet(r.s) {
		check := safety.Drained(r.s, g)
		if !check.OK {
			r.checks = append(r.checks, check)
			r.waiting.Add(g.ProcessGroupID, "%s: %s", g.ProcessGroupID, check.Evidence)
			return
		}
	}
	if safety.Coordinates(r.s, g) {
		r.waiting.Add(g.ProcessGroupID, "%s is a coordinator", g.ProcessGroupID)
		return
	}
	if !g.IsExcluded() {
		r.proven = append(r.proven, g.ProcessGroupID)
	}
	r.classifyDrained(g)
}

// classifyDrained keeps groups that cannot be deleted now out of the choice of the next
// deletion, so that they never take another group's turn.
func (r *removal) classifyDrained(g *v1beta2.ProcessGroupStatus) {
	o := r.objects(g)
	switch {
	case o == readings.LeftoverObjects{}:
	case o.Pod != nil && o.Pod.Annotations[v1beta2.AnnotationIsolateProcessGroup] == "true":
		r.kept.Add(g.ProcessGroupID, "pod %s is isolated by its annotation and kept", o.Pod.Name)
	case o.Ending():
		r.ending(g)
	default:
		r.marked = append(r.marked, g)
	}
}

// ending classifies a group whose objects are all being deleted: they end soon, or they are stuck.
func (r *removal) ending(g *v1beta2.ProcessGroupStatus) {
	stuck := slices.DeleteFunc(readings.TerminatingOf(r.s, g), func(t readings.Terminating) bool { return !t.Stuck })
	if len(stuck) == 0 {
		r.waiting.Add(g.ProcessGroupID, "the objects of %s are still terminating", g.ProcessGroupID)
		return
	}
	for _, t := range stuck {
		at := slices.IndexFunc(r.stuck, func(s stuckObjects) bool { return s.cause.Key() == t.Key() })
		if at < 0 {
			at, r.stuck = len(r.stuck), append(r.stuck, stuckObjects{cause: t})
		}
		r.stuck[at].groups = append(r.stuck[at].groups, g)
	}
}

// stuckObjects are the process groups with objects that one cause keeps: a lost node keeps the pods of many.
type stuckObjects struct {
	cause  readings.Terminating
	groups []*v1beta2.ProcessGroupStatus
}

// addStuck adds why objects do not end, once for each cause. The exclusions of these groups stay: the
// node may come back with their processes.
func (r *removal) addStuck() {
	for _, s := range r.stuck {
		reason := s.cause.Text(r.s.Now)
		if more := len(s.groups) - 1; more > 0 {
			reason += fmt.Sprintf(" (and %s on it)", phrase.Count(more, "more pod"))
		}
		r.kept.AddAll(s.groups, "%s; %s", reason, s.cause.Remedy())
	}
}

// record records what was proven, before anything relies on it.
func (r *removal) record() plan.Decision {
	d := plan.Decision{Checks: r.checks}
	if len(r.proven) > 0 {
		d.Why = "the database does not depend on them any more"
		d.Actions = append(d.Actions, plan.SetExcluded{Groups: r.proven, At: r.s.Now})
	}
	return d
}

// forget ends the exclusions of groups without objects and removes the groups from the status.
func (r *removal) forget(d *plan.Decision) {
	if len(r.removable) == 0 {
		return
	}
	if !exclusionsKnown(r.s) {
		r.waiting.AddAll(r.removable, "%s %s removed; %s in the status until the database reports which exclusions are theirs", phrase.Count(len(r.removable), "process group"), phrase.Is(len(r.removable)), phrase.Either(len(r.removable), "it stays", "they stay"))
		return
	}
	a := plan.IncludeAndForget{}
	for _, g := range r.removable {
		a.Groups = append(a.Groups, g.ProcessGroupID)
		a.Targets = append(a.Targets, exclusionsOf(r.s, g)...)
	}
	if len(a.Targets) > 0 && safety.ActsTogether(r.s.Cluster) && !r.together(d, &a) {
		return
	}
	if len(a.Targets) > 0 && !r.mayInclude(d, a) {
		return
	}
	d.Why = "their objects are deleted"
	d.Actions = append(d.Actions, a)
	if change := readings.Withdrawal(r.s, a.Groups); !change.IsEmpty() {
		d.Actions = append(d.Actions, change)
	}
}

// mayInclude checks whether exclusions may end now. Where the database only has to be stable
// for longer, the rest is housekeeping, which no pass or command waits for.
func (r *removal) mayInclude(d *plan.Decision, a plan.IncludeAndForget) bool {
	checks := IncludeChecks(r.s)
	for i, check := range checks {
		if check.OK {
			continue
		}
		if IsHousekeeping(r.s, check) {
			d.Housekeeping = HousekeepingOf(r.s, a, check)
			d.Checks = append(d.Checks, checks[:i]...)
			return false
		}
		d.Checks = append(d.Checks, checks[:i+1]...)
		r.waiting.AddAll(r.removable, "%s: removed, exclusions kept for now (%s)", a.Subject(), check.Evidence)
		return false
	}
	d.Checks = append(d.Checks, checks...)
	return true
}

// IncludeChecks returns the checks before exclusions end.
func IncludeChecks(s plan.Snapshot) []plan.Check {
	return []plan.Check{
		safety.Available(s.Database), safety.Unlocked(s.Database), safety.FewGenerations(s.Database),
		safety.RecoveredFor(s.Database, MinRecoveryAgeToInclude), safety.Recovered(s.Database),
	}
}

// exclusionsKnown reports whether the database's exclusions are known. A group that is removed
// from the status before its exclusion leaves that behind forever.
func exclusionsKnown(s plan.Snapshot) bool {
	return safety.NoDatabaseYet(s) || (s.Database.Available() && s.Database.Status.Cluster.Configuration != nil)
}

// exclusionsOf returns the exclusions in force of a group: its locality, and every address that
// it has or had.
func exclusionsOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []string {
	if g.ProcessClass.IsTester() || s.Database.Status == nil {
		return nil
	}
	return slices.DeleteFunc(append([]string{g.ExclusionString()}, g.Addresses...), func(target string) bool {
		return !slices.Contains(s.Database.Status.ExcludedTargets(), target)
	})
}

// keepUndrained lets the groups that may still hold data wait, for one reason.
func (r *removal) keepUndrained(why string) {
	mayHoldData := func(g *v1beta2.ProcessGroupStatus) bool { return safety.MayHoldData(r.s, g) }
	for _, g := range r.marked {
		if mayHoldData(g) {
			r.waiting.Subjects = append(r.waiting.Subjects, string(g.ProcessGroupID))
		}
	}
	r.waiting.Reasons = append(r.waiting.Reasons, why)
	r.marked = slices.DeleteFunc(r.marked, mayHoldData)
}

// delete deletes the objects of one fault domain's groups.
func (r *removal) delete(d *plan.Decision) {
	if len(r.marked) == 0 || r.s.Cluster.RemovalMode() == v1beta2.PodUpdateModeNone {
		return
	}
	if !safety.NoDatabaseYet(r.s) {
		if recent := safety.RecentProof(r.s); r.s.Database.Status != nil && !recent.OK {
			d.Checks = append(d.Checks, recent)
			d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: "no object is deleted by an old status document", Detail: recent.Evidence, RetryAfter: time.Second}
			return
		}
		tolerance := safety.FullFaultTolerance(r.s)
		d.Checks = append(d.Checks, tolerance)
		if !tolerance.OK {
			d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: "no object is deleted while the database is not fully fault tolerant", Detail: tolerance.Evidence, RetryAfter: ToleranceRetry}
			return
		}
		if why, checks := r.undrainedWait(); why != "" {
			d.Checks = append(d.Checks, checks...)
			if r.keepUndrained(why); len(r.marked) == 0 {
				d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Subjects: r.waiting.Subjects, Reason: why, RetryAfter: ToleranceRetry}
				return
			}
		}
	}
	if wait := r.waitBetweenRemovals(); wait > 0 {
		d.Hold = &plan.Hold{Code: plan.HoldRemovalInterval, Reason: fmt.Sprintf("the next removal follows in %s (spec.automationOptions.waitBetweenRemovalsSeconds)", wait.Round(time.Second)), RetryAfter: wait}
		return
	}
	for _, g := range r.nextToDelete() {
		d.Actions = append(d.Actions, r.deletion(g))
	}
	r.waiting.AddAll(r.marked, "%s %s in the status until all objects are deleted and all exclusions have ended", phrase.Count(len(r.marked), "process group"), phrase.Either(len(r.marked), "stays", "stay"))
	if d.Why == "" {
		d.Why = "they are drained"
	}
}

// mayHoldData reports whether one of the groups is removed without proof that it is drained.
func (r *removal) mayHoldData() bool {
	return slices.ContainsFunc(r.marked, func(g *v1beta2.ProcessGroupStatus) bool { return safety.MayHoldData(r.s, g) })
}

// undrainedWait returns why groups that are removed without proof have to wait; empty when none
// does. Drained groups do not wait for that.
func (r *removal) undrainedWait() (why string, checks []plan.Check) {
	if !r.mayHoldData() {
		return "", nil
	}
	switch under, unread := MaintenanceZone(r.s); {
	case unread:
		known := safety.MaintenanceKnown(r.s.Database)
		return "a group that was not drained is removed only while no zone is under maintenance; " + known.Evidence, []plan.Check{known}
	case under != "":
		return fmt.Sprintf("a group that was not drained is removed only while no zone is under maintenance; zone %s is", under), nil
	}
	if unsettled := UnsettledPods(r.s); len(unsettled) > 0 {
		return "a group that was not drained is removed only while all others are settled: " + readings.SomeOf(unsettled), nil
	}
	if up := r.othersUp(); !up.OK {
		return "a group that was not drained is removed only while all others with data report: " + up.Evidence, []plan.Check{up}
	}
	if settled := r.othersSettled(); !settled.OK {
		return "a group that was not drained is removed only after the processes of all others have been up for a while: " + settled.Evidence, []plan.Check{settled}
	}
	return "", nil
}

// othersSettled checks for each group that is removed without proof whether every process that
// holds data in another fault domain has been up for as long as a death takes to be reported.
func (r *removal) othersSettled() plan.Check {
	starts := safety.JustStarted(r.s)
	for _, g := range r.marked {
		if !safety.MayHoldData(r.s, g) {
			continue
		}
		if settled, _ := starts.Elsewhere(string(g.FaultDomain)); !settled.OK {
			return settled
		}
	}
	return plan.Check{OK: true}
}

// othersUp checks for each group that is removed without proof whether all others with data
// report. How long one has not reported does not matter here: it may have reported between two
// snapshots, and have died again with a copy that the database still counts.
func (r *removal) othersUp() plan.Check {
	for _, g := range r.marked {
		if safety.MayHoldData(r.s, g) {
			if up := safety.OthersUp(r.s, g); !up.OK {
				return up
			}
		}
	}
	return plan.Check{OK: true}
}

// waitBetweenRemovals returns how long to wait since the last deletion of a group's objects.
func (r *removal) waitBetweenRemovals() time.Duration {
	if r.s.Cluster.RemovalMode() == v1beta2.PodUpdateModeAll {
		return 0
	}
	var last time.Time
	for _, g := range r.s.Groups() {
		if since, ok := g.Condition(v1beta2.ConditionResourcesTerminating); ok && since.After(last) {
			last = since
		}
	}
	return r.s.Cluster.WaitBetweenRemovals() - r.s.Now.Sub(last)
}

// nextToDelete returns by the removal mode: all, those of the fault domain with the most, or one.
func (r *removal) nextToDelete() []*v1beta2.ProcessGroupStatus {
	switch r.s.Cluster.RemovalMode() {
	case v1beta2.PodUpdateModeAll:
		if r.mayHoldData() {
			return r.biggestDomain() // all at once is only for proven groups
		}
		return r.marked
	case v1beta2.PodUpdateModeProcessGroup:
		return r.marked[:1]
	case v1beta2.PodUpdateModeZone:
		return r.biggestDomain()
	case v1beta2.PodUpdateModeNone:
		return nil
	default:
		return r.biggestDomain()
	}
}

func (r *removal) biggestDomain() []*v1beta2.ProcessGroupStatus {
	byDomain := map[v1beta2.FaultDomain][]*v1beta2.ProcessGroupStatus{}
	for _, g := range r.marked {
		byDomain[g.FaultDomain] = append(byDomain[g.FaultDomain], g)
	}
	domains := slices.SortedFunc(maps.Keys(byDomain), func(a, b v1beta2.FaultDomain) int {
		return cmp.Or(cmp.Compare(len(byDomain[b]), len(byDomain[a])), cmp.Compare(a, b))
	})
	return byDomain[domains[0]]
}

// deletion returns the action that deletes those of a group's objects that still exist.
func (r *removal) deletion(g *v1beta2.ProcessGroupStatus) plan.DeleteGroupObjects {
	o := r.objects(g)
	a := plan.DeleteGroupObjects{Group: g.ProcessGroupID, UIDs: map[string]types.UID{}, Undrained: safety.MayHoldData(r.s, g)}
	if o.Pod != nil && o.Pod.DeletionTimestamp == nil {
		a.Pod, a.UIDs[o.Pod.Name] = o.Pod.Name, o.Pod.UID
	}
	if o.Claim != nil && o.Claim.DeletionTimestamp == nil {
		a.Claim, a.UIDs[o.Claim.Name] = o.Claim.Name, o.Claim.UID
	}
	if o.Service != nil && o.Service.DeletionTimestamp == nil {
		a.Service, a.UIDs["service/"+o.Service.Name] = o.Service.Name, o.Service.UID
	}
	return a
}

func (r *removal) objects(g *v1beta2.ProcessGroupStatus) readings.LeftoverObjects {
	return readings.LeftoverObjects{
		Pod:     r.s.Pod(g),
		Claim:   r.s.Volumes[g.PVCName(r.s.Cluster)],
		Service: r.s.Services[g.ServiceName(r.s.Cluster)],
	}
}
