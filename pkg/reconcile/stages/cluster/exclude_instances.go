package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ExcludeInstances excludes process groups that are marked for removal, as many at a time as
// the redundancy allows.
//
// In global synchronization mode groups of all control-plane instances are excluded at once;
// see together.
//
// The operator excludes a coordinator and changes coordinators afterwards; here a
// coordinator's group waits until the coordinators have moved.
var ExcludeInstances = plan.Stage{
	Name:  plan.StageExcludeInstances,
	Reads: plan.ClusterResource | plan.Pods | plan.Database | plan.Coordination,
	More:  readings.KeptFacets, Matters: readings.KeepsAnyMarked,
	Decide: func(s plan.Snapshot) plan.Decision {
		marked := notDrained(s)
		if len(marked) == 0 || !s.Cluster.Status.Configured {
			return plan.Decision{}
		}
		if available := safety.Available(s.Database); !available.OK {
			return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "nothing can be excluded", Detail: available.Evidence, RetryAfter: plan.PodDelay}}
		}
		e := readings.NewExclusions(s)
		for _, g := range marked {
			e.Classify(g)
		}
		if safety.ActsTogether(s.Cluster) {
			return together(e)
		}
		if len(e.Candidates) == 0 {
			return nothingToExclude(e)
		}
		return decide(e)
	},
}

// MinRecoveryAgeToExclude is the minimum time since the last recovery: an exclusion can cause
// one. Default 120 s; source: the operator's flag minimum-recovery-time-for-exclusion.
const MinRecoveryAgeToExclude = 2 * time.Minute

// ExclusionRetry is when a refused exclusion is checked again.
const ExclusionRetry = 10 * time.Second

// ExclusionWaits is the reason of a hold until exclusions are allowed.
const ExclusionWaits = "exclusion waits"

// notDrained returns the groups to exclude. One that the spec keeps is not excluded, whether its
// mark can be reverted now or not.
func notDrained(s plan.Snapshot) []*v1beta2.ProcessGroupStatus {
	return slices.DeleteFunc(slices.Clone(s.Groups()), func(g *v1beta2.ProcessGroupStatus) bool {
		return !g.IsMarkedForRemoval() || g.IsExcluded() || g.ProcessClass.IsTester() || readings.KeptNow(s, g)
	})
}

func nothingToExclude(e *readings.Exclusions) plan.Decision {
	if len(e.Coordinators) == 0 {
		if len(e.Unreachable) > 0 {
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldNoAddress, Manual: true, Subjects: e.Unreachable, Reason: fmt.Sprintf("%s never had an address to exclude; list it in spec.processGroupsToRemoveWithoutExclusion if it never ran", readings.SomeOf(e.Unreachable))}}
		}
		return plan.Decision{}
	}
	return plan.Decision{Hold: CoordinatorsFirst(e.Coordinators)}
}

func decide(e *readings.Exclusions) plan.Decision {
	d, stable := CheckStable(e)
	if !stable {
		return d
	}
	allowed, checks := Allowed(e)
	d.Checks = append(d.Checks, checks...)
	if refused, ok := d.Refused(); ok && len(allowed) == 0 {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: refused.Evidence, RetryAfter: ExclusionRetry}
		return d
	}
	d.Why = "marked for removal, and enough other processes report"
	d.Actions = []plan.Action{e.Exclusion(allowed)}
	d.Hold = remaining(e, len(allowed))
	return d
}

// CheckStable makes the checks of the database that precede any exclusion; ok is false when
// one of them fails.
func CheckStable(e *readings.Exclusions) (d plan.Decision, ok bool) {
	d.Checks = []plan.Check{
		safety.Unlocked(e.S.Database),
		safety.FewGenerations(e.S.Database),
		safety.RecoveredFor(e.S.Database, MinRecoveryAgeToExclude),
	}
	if refused, found := d.Refused(); found {
		d.Hold = &plan.Hold{Code: plan.HoldExclusionBudget, Reason: ExclusionWaits, Detail: refused.Evidence, RetryAfter: ExclusionRetry}
		return d, false
	}
	return d, true
}

// remaining returns the hold for the groups that are not excluded yet; nil when none is left.
func remaining(e *readings.Exclusions, excluded int) *plan.Hold {
	left := len(e.Candidates) - excluded + len(e.Coordinators)
	if left == 0 {
		return nil
	}
	return &plan.Hold{Code: plan.HoldExclusionBudget, Reason: fmt.Sprintf("%s %s until others are drained, or coordinators have moved", phrase.Count(left, "more process group"), phrase.Either(left, "waits", "wait")), RetryAfter: ExclusionRetry}
}

// Allowed returns as many groups of each class as its budget allows. When a class of the
// transaction system has no budget left, nothing is excluded: its roles would move onto
// processes that are excluded next.
func Allowed(e *readings.Exclusions) ([]*v1beta2.ProcessGroupStatus, []plan.Check) {
	notReporting, reporting := byClass(e)
	lost, checks := allowedNotReporting(e, notReporting)
	allowed, blocked := lost, false
	for _, class := range slices.Sorted(maps.Keys(reporting)) { // including unknown and empty classes
		groups := reporting[class]
		budget, check := safety.ExclusionBudget(e.S, class, e.Ongoing[class])
		checks = append(checks, check)
		blocked = blocked || (budget == 0 && class.IsTransactionSystem())
		allowed = append(allowed, groups[:min(budget, len(groups))]...)
	}
	if blocked {
		return lost, checks
	}
	return allowed, checks
}

// byClass splits the candidates into groups that have nothing to lose, since they do not
// report, and groups that still hold data or roles.
func byClass(e *readings.Exclusions) (notReporting, reporting map[v1beta2.ProcessClass][]*v1beta2.ProcessGroupStatus) {
	notReporting, reporting = map[v1beta2.ProcessClass][]*v1beta2.ProcessGroupStatus{}, map[v1beta2.ProcessClass][]*v1beta2.ProcessGroupStatus{}
	for _, g := range e.Candidates {
		kind := reporting
		if safety.LongMissing(e.S, g) {
			kind = notReporting
		}
		kind[g.ProcessClass] = append(kind[g.ProcessClass], g)
	}
	return notReporting, reporting
}

// allowedNotReporting returns all of a class where the others are enough, also while a class of
// the transaction system has no budget left: no role moves off them. The operator lets them
// wait for the budget. It may never suffice: other failed groups are only replaced once these
// are removed.
func allowedNotReporting(e *readings.Exclusions, groups map[v1beta2.ProcessClass][]*v1beta2.ProcessGroupStatus) (allowed []*v1beta2.ProcessGroupStatus, checks []plan.Check) {
	if len(groups) == 0 {
		return nil, nil
	}
	if known := reportingKnown(e.S.Database); !known.OK {
		return nil, []plan.Check{known}
	}
	for _, class := range slices.Sorted(maps.Keys(groups)) {
		check := safety.UnresponsiveExclusion(e.S, class, e.Ongoing[class])
		checks = append(checks, check)
		if check.OK {
			allowed = append(allowed, groups[class]...)
		}
	}
	return allowed, checks
}

// CoordinatorsFirst waits for the coordinators to move off process groups.
func CoordinatorsFirst(groups []string) *plan.Hold {
	return &plan.Hold{
		Code: plan.HoldCoordinatorsFirst, Subjects: groups, RetryAfter: ExclusionRetry, Follows: true,
		Reason: readings.SomeOf(groups) + " " + phrase.Either(len(groups), "is a coordinator", "are coordinators") + "; coordinators move first",
	}
}

// together excludes process groups of all control-plane instances in one command, which costs
// one recovery instead of one each. First every control-plane instance announces as many of
// its own as its budgets allow, and withdraws others; the one that holds the lock when all are
// ready excludes what all have announced.
func together(e *readings.Exclusions) plan.Decision {
	if !e.S.Coordination.Lists.Read {
		return plan.Wait(ExclusionRetry, plan.HoldSharedListsUnread, "process groups cannot be excluded together with those of other control-plane instances: "+readings.ListsUnread)
	}
	if len(e.Candidates) == 0 {
		return readings.Withdrawing(nothingToExclude(e), announcement(e, nil))
	}
	d, stable := CheckStable(e)
	if !stable {
		return d
	}
	announcedFirst(e)
	allowed, checks := Allowed(e)
	d.Checks = append(d.Checks, checks...)
	if change := announcement(e, allowed); !change.IsEmpty() {
		return readings.Announcing(d, change, safety.CommonExclusion())
	}
	if refused, found := d.Refused(); found && len(allowed) == 0 {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: refused.Evidence, RetryAfter: ExclusionRetry}
		return d
	}
	members, check, missing := safety.Synchronized(e.S, safety.CommonExclusion())
	d.Checks = append(d.Checks, check)
	if !check.OK {
		d.Hold = readings.NotTogether(check, missing)
		return d
	}
	others := readings.NewExclusions(e.S)
	for _, g := range safety.Others(e.S, members) {
		others.Classify(g)
	}
	action, theirs := e.Exclusion(allowed), others.Exclusion(others.Candidates)
	action.Groups, action.Targets = append(action.Groups, theirs.Groups...), append(action.Targets, theirs.Targets...)
	d.Why = "marked for removal in all control-plane instances, and enough other processes of each report"
	d.Actions = []plan.Action{action}
	d.Hold = cmp.Or(remaining(e, len(allowed)), leftOut(others))
	return d
}

// announcedFirst sorts announced groups first, so that they keep their part of the budget.
func announcedFirst(e *readings.Exclusions) {
	rank := func(g *v1beta2.ProcessGroupStatus) int {
		if e.S.Coordination.Lists.Has(fdb.ReadyForExclusion, readings.MemberOf(e.S, g.ProcessGroupID)) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(e.Candidates, func(a, b *v1beta2.ProcessGroupStatus) int { return rank(a) - rank(b) })
}

// announcement lists the groups that may be excluded as ready, and no others.
func announcement(e *readings.Exclusions, allowed []*v1beta2.ProcessGroupStatus) plan.ChangeLists {
	editor := readings.ListEditor{S: e.S, Change: plan.ChangeLists{At: e.S.Now}}
	for _, g := range allowed {
		editor.Add(g, fdb.PendingForExclusion, fdb.ReadyForExclusion)
	}
	for _, id := range e.S.Coordination.Lists.Own(fdb.ReadyForExclusion, editor.Instance()) {
		if !slices.ContainsFunc(allowed, func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessGroupID == id }) {
			editor.Drop(id, fdb.ReadyForExclusion)
		}
	}
	return editor.Change
}

// leftOut names groups that other control-plane instances announced and that are not excluded:
// coordinators move before they are excluded, and a group whose address its control-plane
// instance does not report cannot be excluded.
func leftOut(e *readings.Exclusions) *plan.Hold {
	left := append(slices.Clone(e.Coordinators), e.Unreachable...)
	if len(left) == 0 {
		return nil
	}
	return &plan.Hold{Code: plan.HoldLeftToOtherInstances, Reason: fmt.Sprintf("left to other control-plane instances, since they are coordinators or have no address: %s", readings.SomeOf(left)), RetryAfter: ExclusionRetry}
}
