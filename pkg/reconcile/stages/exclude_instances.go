package stages

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// excludeInstances excludes process groups that are marked for removal, as many at a time as
// the redundancy allows.
//
// In global synchronization mode groups of all control-plane instances are excluded at once;
// see together.
//
// The operator excludes a coordinator and changes coordinators afterwards; here a
// coordinator's group waits until the coordinators have moved.
var excludeInstances = plan.Stage{
	Name:  plan.StageExcludeInstances,
	Reads: plan.Record | plan.Pods | plan.Database | plan.Coordination,
	Decide: func(s plan.Snapshot) plan.Decision {
		leaving := notDrained(s)
		if len(leaving) == 0 || !s.Cluster.Status.Configured {
			return plan.Decision{}
		}
		if available := safety.Available(s.Database); !available.OK {
			return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "nothing can be excluded", Detail: available.Evidence, RetryAfter: podDelay}}
		}
		e := newExclusions(s)
		for _, g := range leaving {
			e.classify(g)
		}
		if safety.ActsTogether(s.Cluster) {
			return e.together()
		}
		if len(e.candidates) == 0 {
			return e.nothingToExclude()
		}
		return e.decide()
	},
}

// minRecoveryAgeToExclude is the minimum time since the last recovery: an exclusion can cause
// one. Default 120 s; source: the operator's flag minimum-recovery-time-for-exclusion.
const minRecoveryAgeToExclude = 2 * time.Minute

// exclusionRetry is when a refused exclusion is checked again.
const exclusionRetry = 10 * time.Second

// exclusionWaits is the reason of a hold until exclusions are allowed.
const exclusionWaits = "exclusion waits"

func notDrained(s plan.Snapshot) []*v1beta2.ProcessGroupStatus {
	return slices.DeleteFunc(slices.Clone(s.Groups()), func(g *v1beta2.ProcessGroupStatus) bool {
		return !g.IsMarkedForRemoval() || g.IsExcluded() || g.ProcessClass.IsTester()
	})
}

// exclusions classifies the groups to remove into those that can be excluded, those that are
// excluded already, and those that have to wait.
type exclusions struct {
	s            plan.Snapshot
	candidates   []*v1beta2.ProcessGroupStatus
	targets      map[v1beta2.ProcessGroupID][]string
	ongoing      map[v1beta2.ProcessClass]int
	coordinators []string
	unreachable  []string // they have no address, and the version does not know localities
}

func newExclusions(s plan.Snapshot) *exclusions {
	return &exclusions{s: s, targets: map[v1beta2.ProcessGroupID][]string{}, ongoing: map[v1beta2.ProcessClass]int{}}
}

func (e *exclusions) classify(g *v1beta2.ProcessGroupStatus) {
	targets := slices.DeleteFunc(e.targetsOf(g), func(t string) bool {
		return slices.Contains(e.s.Database.Status.ExcludedTargets(), t)
	})
	switch {
	case len(e.targetsOf(g)) == 0:
		e.unreachable = append(e.unreachable, string(g.ProcessGroupID))
	case len(targets) == 0:
		e.ongoing[g.ProcessClass]++
	case safety.Coordinates(e.s, g):
		e.coordinators = append(e.coordinators, string(g.ProcessGroupID))
	default:
		e.candidates = append(e.candidates, g)
		e.targets[g.ProcessGroupID] = targets
	}
}

// targetsOf returns what a group is excluded by. One that never had an address is excluded by
// its ID even where addresses are preferred, or it could never be removed.
func (e *exclusions) targetsOf(g *v1beta2.ProcessGroupStatus) []string {
	if safety.ByLocality(e.s.Cluster) || (len(g.Addresses) == 0 && safety.CanExcludeLocalities(e.s.Cluster)) {
		return []string{g.ExclusionString()}
	}
	return slices.Clone(g.Addresses)
}

func (e *exclusions) nothingToExclude() plan.Decision {
	if len(e.coordinators) == 0 {
		if len(e.unreachable) > 0 {
			return plan.Decision{Hold: &plan.Hold{Code: plan.HoldNoAddress, Human: true, Subjects: e.unreachable, Reason: fmt.Sprintf("%s never had an address to exclude; list it in spec.processGroupsToRemoveWithoutExclusion if it never ran", someOf(e.unreachable))}}
		}
		return plan.Decision{}
	}
	return plan.Decision{Hold: coordinatorsFirst(e.coordinators)}
}

func (e *exclusions) decide() plan.Decision {
	d, stable := e.checkStable()
	if !stable {
		return d
	}
	allowed, checks := e.allowed()
	d.Checks = append(d.Checks, checks...)
	if refused, ok := d.Refused(); ok && len(allowed) == 0 {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: refused.Evidence, RetryAfter: exclusionRetry}
		return d
	}
	d.Why = "marked for removal, and enough other processes report"
	d.Actions = []plan.Action{e.exclusion(allowed)}
	d.Hold = e.remaining(len(allowed))
	return d
}

// checkStable makes the checks of the database that precede any exclusion; ok is false when
// one of them fails.
func (e *exclusions) checkStable() (d plan.Decision, ok bool) {
	d.Checks = []plan.Check{
		safety.Unlocked(e.s.Database),
		safety.FewGenerations(e.s.Database),
		safety.RecoveredFor(e.s.Database, minRecoveryAgeToExclude),
	}
	if refused, found := d.Refused(); found {
		d.Hold = &plan.Hold{Code: plan.HoldExclusionBudget, Reason: exclusionWaits, Detail: refused.Evidence, RetryAfter: exclusionRetry}
		return d, false
	}
	return d, true
}

func (e *exclusions) exclusion(groups []*v1beta2.ProcessGroupStatus) plan.Exclude {
	action := plan.Exclude{}
	for _, g := range groups {
		action.Groups = append(action.Groups, g.ProcessGroupID)
		action.Targets = append(action.Targets, e.targets[g.ProcessGroupID]...)
	}
	return action
}

// remaining returns the hold for the groups that are not excluded yet; nil when none is left.
func (e *exclusions) remaining(excluded int) *plan.Hold {
	left := len(e.candidates) - excluded + len(e.coordinators)
	if left == 0 {
		return nil
	}
	return &plan.Hold{Code: plan.HoldExclusionBudget, Reason: fmt.Sprintf("%s %s until others are drained, or coordinators have moved", phrase.Count(left, "more process group"), phrase.Either(left, "waits", "wait")), RetryAfter: exclusionRetry}
}

// allowed returns as many groups of each class as its budget allows. When a class of the
// transaction system has no budget left, nothing is excluded: its roles would move onto
// processes that are excluded next.
func (e *exclusions) allowed() ([]*v1beta2.ProcessGroupStatus, []plan.Check) {
	notReporting, reporting := e.byClass()
	lost, checks := e.allowedNotReporting(notReporting)
	allowed, blocked := lost, false
	for _, class := range slices.Sorted(maps.Keys(reporting)) { // including unknown and empty classes
		groups := reporting[class]
		budget, check := safety.ExclusionBudget(e.s, class, e.ongoing[class])
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
func (e *exclusions) byClass() (notReporting, reporting map[v1beta2.ProcessClass][]*v1beta2.ProcessGroupStatus) {
	notReporting, reporting = map[v1beta2.ProcessClass][]*v1beta2.ProcessGroupStatus{}, map[v1beta2.ProcessClass][]*v1beta2.ProcessGroupStatus{}
	for _, g := range e.candidates {
		kind := reporting
		if safety.LongMissing(e.s, g) {
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
func (e *exclusions) allowedNotReporting(groups map[v1beta2.ProcessClass][]*v1beta2.ProcessGroupStatus) (allowed []*v1beta2.ProcessGroupStatus, checks []plan.Check) {
	if len(groups) == 0 {
		return nil, nil
	}
	if known := reportingKnown(e.s.Database); !known.OK {
		return nil, []plan.Check{known}
	}
	for _, class := range slices.Sorted(maps.Keys(groups)) {
		check := safety.SilentExclusion(e.s, class, e.ongoing[class])
		checks = append(checks, check)
		if check.OK {
			allowed = append(allowed, groups[class]...)
		}
	}
	return allowed, checks
}
