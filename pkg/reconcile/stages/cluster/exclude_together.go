package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

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
