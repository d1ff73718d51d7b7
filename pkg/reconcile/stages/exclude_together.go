package stages

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// together excludes process groups of all control-plane instances in one command, which costs
// one recovery instead of one each. First every control-plane instance announces as many of
// its own as its budgets allow, and withdraws others; the one that holds the lock when all are
// ready excludes what all have announced.
func (e *exclusions) together() plan.Decision {
	if !e.s.Coordination.Lists.Read {
		return plan.Wait(exclusionRetry, plan.HoldSharedListsUnread, "process groups cannot be excluded together with those of other control-plane instances: "+listsUnread)
	}
	if len(e.candidates) == 0 {
		return withdrawing(e.nothingToExclude(), e.announcement(nil))
	}
	d, stable := e.checkStable()
	if !stable {
		return d
	}
	e.announcedFirst()
	allowed, checks := e.allowed()
	d.Checks = append(d.Checks, checks...)
	if change := e.announcement(allowed); !change.IsEmpty() {
		return announcing(d, change, safety.CommonExclusion())
	}
	if refused, found := d.Refused(); found && len(allowed) == 0 {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: refused.Evidence, RetryAfter: exclusionRetry}
		return d
	}
	members, check, missing := safety.Synchronized(e.s, safety.CommonExclusion())
	d.Checks = append(d.Checks, check)
	if !check.OK {
		d.Hold = notTogether(check, missing)
		return d
	}
	others := newExclusions(e.s)
	for _, g := range safety.Others(e.s, members) {
		others.classify(g)
	}
	action, theirs := e.exclusion(allowed), others.exclusion(others.candidates)
	action.Groups, action.Targets = append(action.Groups, theirs.Groups...), append(action.Targets, theirs.Targets...)
	d.Why = "marked for removal in all control-plane instances, and enough other processes of each report"
	d.Actions = []plan.Action{action}
	d.Hold = cmp.Or(e.remaining(len(allowed)), others.leftOut())
	return d
}

// announcedFirst sorts announced groups first, so that they keep their part of the budget.
func (e *exclusions) announcedFirst() {
	rank := func(g *v1beta2.ProcessGroupStatus) int {
		if e.s.Coordination.Lists.Has(fdb.ReadyForExclusion, memberOf(e.s, g.ProcessGroupID)) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(e.candidates, func(a, b *v1beta2.ProcessGroupStatus) int { return rank(a) - rank(b) })
}

// announcement lists the groups that may be excluded as ready, and no others.
func (e *exclusions) announcement(allowed []*v1beta2.ProcessGroupStatus) plan.ChangeLists {
	editor := listEditor{s: e.s, change: plan.ChangeLists{At: e.s.Now}}
	for _, g := range allowed {
		editor.add(g, fdb.PendingForExclusion, fdb.ReadyForExclusion)
	}
	for _, id := range e.s.Coordination.Lists.Own(fdb.ReadyForExclusion, editor.instance()) {
		if !slices.ContainsFunc(allowed, func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessGroupID == id }) {
			editor.drop(id, fdb.ReadyForExclusion)
		}
	}
	return editor.change
}

// leftOut names groups that other control-plane instances announced and that are not excluded:
// coordinators move before they are excluded, and a group whose address its control-plane
// instance does not report cannot be excluded.
func (e *exclusions) leftOut() *plan.Hold {
	left := append(slices.Clone(e.coordinators), e.unreachable...)
	if len(left) == 0 {
		return nil
	}
	return &plan.Hold{Code: plan.HoldLeftToOtherInstances, Reason: fmt.Sprintf("left to other control-plane instances, since they are coordinators or have no address: %s", someOf(left)), RetryAfter: exclusionRetry}
}
