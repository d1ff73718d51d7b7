package operations

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
)

// ExcludeGroups returns a stage that excludes process groups that a user named, and that may
// stay: no replacements are added. It makes the checks of ExcludeInstances, and also checks
// whether the remaining processes can hold the data, since FoundationDB itself refuses nothing.
// An excluded group is left alone: a repeated exclusion would restart data distribution.
func ExcludeGroups(groups []v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  plan.StageExcludeGroups,
		Reads: plan.ClusterResource | plan.Pods | plan.Database | plan.Coordination,
		Decide: unlessKept(groups, func(s plan.Snapshot, groups []v1beta2.ProcessGroupID) plan.Decision {
			due := notExcluded(s, groups)
			if len(due) == 0 {
				return plan.Decision{}
			}
			if available := safety.Available(s.Database); !available.OK {
				return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "nothing can be excluded", Detail: available.Evidence, RetryAfter: plan.PodDelay}}
			}
			return requestedExclusion{Exclusions: exclusionsWith(s, due), now: s}.decide()
		}),
	}
}

// notExcluded returns the groups with no exclusion in force, and none recorded before.
func notExcluded(s plan.Snapshot, groups []v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID {
	return slices.DeleteFunc(slices.Clone(groups), func(id v1beta2.ProcessGroupID) bool {
		g := s.Cluster.ProcessGroup(id)
		return g == nil || s.Cluster.KeepsFromReplacement(id) || g.IsExcluded() || safety.Excluded(s, g)
	})
}

// exclusionsWith classifies as though the groups were already marked for removal: those that a
// user has excluded before count as draining, whatever the status records.
func exclusionsWith(s plan.Snapshot, due []v1beta2.ProcessGroupID) *readings.Exclusions {
	e := readings.NewExclusions(asMarked(s, due))
	for _, g := range e.S.Groups() {
		switch {
		case g.IsExcluded() || g.ProcessClass.IsTester():
		case safety.Excluded(s, g) && g.IsMarkedForRemoval():
			e.Ongoing[g.ProcessClass]++
		case slices.Contains(due, g.ProcessGroupID):
			e.Classify(g)
		}
	}
	return e
}

// asMarked returns the snapshot as if the groups were marked for removal, and every other
// excluded group had the condition for that. It is never written.
func asMarked(s plan.Snapshot, due []v1beta2.ProcessGroupID) plan.Snapshot {
	excluded := func(g *v1beta2.ProcessGroupStatus) bool { return safety.Excluded(s, g) }
	s.Cluster = s.Cluster.DeepCopy()
	for _, g := range s.Groups() {
		switch {
		case g.IsMarkedForRemoval():
		case slices.Contains(due, g.ProcessGroupID):
			g.MarkForRemoval(s.Now)
		case excluded(g):
			g.SetCondition(v1beta2.ConditionProcessIsMarkedAsExcluded, s.Now)
		}
	}
	return s
}

// requestedExclusion is what a user requested to exclude, classified.
type requestedExclusion struct {
	*readings.Exclusions
	// now are the unchanged facts.
	now plan.Snapshot
}

func (w requestedExclusion) decide() plan.Decision {
	switch {
	case len(w.Unreachable) > 0:
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldNoAddress, Manual: true, Subjects: w.Unreachable, Reason: fmt.Sprintf("%s never had an address to exclude", readings.SomeOf(w.Unreachable))}}
	case len(w.Candidates) == 0 && len(w.Coordinators) == 0:
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldNeverExcluded, Manual: true, Reason: "processes of class test hold no data or roles, and are never excluded"}}
	case len(w.Candidates) == 0:
		return plan.Decision{Hold: cluster.CoordinatorsFirst(w.Coordinators)}
	}
	d, stable := cluster.CheckStable(w.Exclusions)
	if !stable {
		return d
	}
	allowed, checks := cluster.Allowed(w.Exclusions)
	d.Checks = append(d.Checks, checks...)
	if refused, found := d.Refused(); found && len(allowed) == 0 {
		d.Hold = w.noRoom(refused)
		return d
	}
	left := canHoldWithout(w.now, allowed)
	d.Checks = append(d.Checks, left)
	if !left.OK {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Manual: true, Subjects: phrase.Strings(readings.IDsOf(allowed)), Reason: fmt.Sprintf("without %s", readings.SomeOf(readings.IDsOf(allowed))), Detail: left.Evidence}
		return d
	}
	d.Why = plan.RequestedByUser
	d.Actions = []plan.Action{w.Exclusion(allowed)}
	if refused, found := d.Refused(); found || len(allowed) < len(w.Candidates) {
		d.Hold = w.noRoom(refused)
	} else if len(w.Coordinators) > 0 {
		d.Hold = cluster.CoordinatorsFirst(w.Coordinators)
	}
	return d
}

// noRoom holds because too few processes could take over. It waits while some of the class
// may report again, or are being replaced; otherwise a user has to intervene.
func (w requestedExclusion) noRoom(refused plan.Check) *plan.Hold {
	const advice = "replace the process groups instead: replacements are added first"
	if refused.ID == "" {
		return &plan.Hold{Code: plan.HoldExclusionBudget, Manual: true, Reason: "no more process groups of the class may be excluded at the same time; " + advice}
	}
	waits := slices.ContainsFunc(w.now.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
		return w.includes(g.ProcessClass) && (g.IsMarkedForRemoval() || g.HasCondition(v1beta2.ConditionMissingProcesses) || g.HasCondition(v1beta2.ConditionMissingPod))
	})
	if waits {
		return &plan.Hold{Code: plan.HoldExclusionBudget, Reason: cluster.ExclusionWaits, Detail: refused.Evidence, RetryAfter: cluster.ExclusionRetry}
	}
	return &plan.Hold{Code: plan.HoldExclusionBudget, Manual: true, Reason: fmt.Sprintf("no further exclusion is allowed (%s); %s", refused.Evidence, advice)}
}

func (w requestedExclusion) includes(class v1beta2.ProcessClass) bool {
	return slices.ContainsFunc(w.Candidates, func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessClass == class })
}

// canHoldWithout checks whether the remaining processes can hold the data under the current
// configuration. Only groups that hold data or logs count; others can be fewer.
func canHoldWithout(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) plan.Check {
	keeping := slices.DeleteFunc(slices.Clone(groups), func(g *v1beta2.ProcessGroupStatus) bool { return !g.ProcessClass.IsStateful() })
	if len(keeping) == 0 {
		return plan.Check{ID: plan.CheckDataFits, Question: "can the remaining processes hold the data?", OK: true, Evidence: "none of the excluded ones holds any", Gate: plan.GateConfig}
	}
	if s.Database.Status.Cluster.Configuration == nil {
		return plan.Check{ID: plan.CheckDataFits, Question: "can the remaining processes hold the data?", Evidence: "unknown: the status document does not report the configuration", Gate: plan.GateConfig}
	}
	status := *s.Database.Status
	status.Cluster.Processes = maps.Clone(status.Cluster.Processes)
	maps.DeleteFunc(status.Cluster.Processes, func(_ string, p fdb.Process) bool {
		return slices.Contains(readings.IDsOf(keeping), v1beta2.ProcessGroupID(p.InstanceID()))
	})
	return safety.CanHold(plan.DatabaseFacts{Status: &status, AsOf: s.Database.AsOf}, *status.Cluster.Configuration)
}

// MoveCoordinatorsOff returns a stage that changes coordinators if one of the groups to exclude
// is one, as if the group were marked for removal.
func MoveCoordinatorsOff(groups []v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  cluster.ChangeCoordinators.Name,
		Reads: cluster.ChangeCoordinators.Reads,
		Decide: func(s plan.Snapshot) plan.Decision {
			due := slices.DeleteFunc(notExcluded(s, groups), func(id v1beta2.ProcessGroupID) bool {
				return !safety.Coordinates(s, s.Cluster.ProcessGroup(id))
			})
			if len(due) == 0 {
				return plan.Decision{}
			}
			d := cluster.ChangeCoordinators.Decide(asMarked(s, notExcluded(s, groups)))
			why := fmt.Sprintf("%s %s, and coordinators move before their processes are excluded", readings.SomeOf(due), phrase.Either(len(due), "is a coordinator", "are coordinators"))
			if len(d.Actions) > 0 {
				d.Why = why
			}
			if refused, found := d.Refused(); d.Hold != nil && found {
				d.Hold.Reason, d.Hold.Detail = why+"; the coordinator change waits", refused.Evidence
			}
			return d
		},
	}
}

// unlessKept returns what decides about those of the groups that the spec does not keep, and
// reports the others, whatever else holds: no command marks or excludes them.
func unlessKept(groups []v1beta2.ProcessGroupID, decide func(plan.Snapshot, []v1beta2.ProcessGroupID) plan.Decision) func(plan.Snapshot) plan.Decision {
	return func(s plan.Snapshot) plan.Decision {
		var due, kept []v1beta2.ProcessGroupID
		for _, id := range groups {
			switch {
			case s.Cluster.ProcessGroup(id) == nil:
			case s.Cluster.KeepsFromReplacement(id):
				kept = append(kept, id)
			default:
				due = append(due, id)
			}
		}
		d := decide(s, due)
		d.Hold = keptHold(d.Hold, kept)
		return d
	}
}

// keptHold adds to a hold that the spec keeps some of the requested groups. That comes first, since
// it needs a user.
func keptHold(h *plan.Hold, kept []v1beta2.ProcessGroupID) *plan.Hold {
	if len(kept) == 0 {
		return h
	}
	all := &plan.Hold{
		Code: plan.HoldKeptBySpec, Manual: true, Subjects: phrase.Strings(kept),
		Reason: fmt.Sprintf("%s keeps %s: remove %s from the list first", readings.KeepField, readings.SomeOf(kept), phrase.Either(len(kept), "it", "them")),
	}
	if h != nil {
		all.Reason += "; " + h.Text()
		all.Subjects = slices.Concat(all.Subjects, h.Subjects)
		all.RetryAfter, all.Then = h.RetryAfter, h.Then
	}
	return all
}

// SkipExclusion returns a stage that marks process groups for removal without draining them, as
// spec.processGroupsToRemoveWithoutExclusion does, with more checks: all of the data must have
// another copy now, and the database its full fault tolerance. The groups of one fault domain are
// removed at a time, and no others while any is being removed.
func SkipExclusion(groups []v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  plan.StageSkipExclusion,
		Reads: plan.ClusterResource | plan.Pods | plan.Database | plan.Coordination,
		Decide: unlessKept(groups, func(s plan.Snapshot, groups []v1beta2.ProcessGroupID) plan.Decision {
			due := notYetSkipped(s, groups)
			if len(due) == 0 {
				return plan.Decision{}
			}
			now, later := ofOneDomain(due)
			if earlier := undrainedBeside(s, now[0]); earlier != "" {
				return plan.Wait(cluster.ToleranceRetry, plan.HoldEarlierRemoval, fmt.Sprintf("removal of %s waits until %s is removed and all copies of its data are restored", readings.SomeOf(readings.IDsOf(now)), earlier))
			}
			d := plan.Decision{Checks: mayGoWithData(s, now)}
			if refused, ok := d.Refused(); ok {
				d.Hold = refusedToSkip(now, refused)
				return d
			}
			d.Why = plan.RequestedByUser
			d.Actions = []plan.Action{plan.MarkForRemoval{Groups: readings.IDsOf(now), At: s.Now, WithoutExclusion: true}}
			if len(later) > 0 {
				d.Hold = &plan.Hold{Code: plan.HoldOneFaultDomainAtATime, RetryAfter: cluster.ToleranceRetry, Subjects: phrase.Strings(readings.IDsOf(later)), Reason: fmt.Sprintf("removal of %s waits: one fault domain at a time", readings.SomeOf(readings.IDsOf(later)))}
			}
			return d
		}),
	}
}

// notYetSkipped returns the groups that exist and are not drained: a drained group has no
// exclusion to skip.
func notYetSkipped(s plan.Snapshot, groups []v1beta2.ProcessGroupID) []*v1beta2.ProcessGroupStatus {
	var due []*v1beta2.ProcessGroupStatus
	for _, id := range groups {
		if g := s.Cluster.ProcessGroup(id); g != nil && !g.IsRemovable() {
			due = append(due, g)
		}
	}
	return due
}

// ofOneDomain splits off the groups of the first one's fault domain. One with an unknown fault
// domain is removed alone.
func ofOneDomain(due []*v1beta2.ProcessGroupStatus) (now, later []*v1beta2.ProcessGroupStatus) {
	domain := due[0].FaultDomain
	for i, g := range due {
		if i == 0 || (domain != "" && g.FaultDomain == domain) {
			now = append(now, g)
		} else {
			later = append(later, g)
		}
	}
	return now, later
}

// undrainedBeside returns a group of another fault domain that is being removed with data on it.
func undrainedBeside(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	for _, other := range s.Groups() {
		if safety.MayHoldData(s, other) && (other.FaultDomain == "" || other.FaultDomain != g.FaultDomain) {
			return string(other.ProcessGroupID)
		}
	}
	return ""
}

// mayGoWithData returns the checks before copies of data are given up. All must pass.
func mayGoWithData(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) []plan.Check {
	settled, _ := safety.JustStarted(s).Elsewhere(string(groups[0].FaultDomain))
	checks := []plan.Check{
		safety.Available(s.Database), safety.Unlocked(s.Database), safety.FewGenerations(s.Database),
		safety.ReplicaRemains(s, groups), safety.FullFaultTolerance(s), safety.OthersUp(s, groups[0]), settled,
		safety.DataHealthy(s.Database), safety.RecoveredFor(s.Database, cluster.MinRecoveryAgeToExclude),
	}
	if s.Database.Status != nil {
		checks = append(checks, canHoldWithout(s, groups))
	}
	return checks
}

// refusedToSkip returns the hold for a refused check. A pass may wait only for what time alone
// resolves; anything else needs a new decision of the user.
func refusedToSkip(groups []*v1beta2.ProcessGroupStatus, refused plan.Check) *plan.Hold {
	return &plan.Hold{
		Code:   plan.HoldCheckRefused,
		Manual: refused.Gate != plan.GateRecovery && refused.Gate != plan.GateUptime, RetryAfter: plan.PodDelay,
		Subjects: phrase.Strings(readings.IDsOf(groups)), Reason: fmt.Sprintf("%s cannot be removed without draining", readings.SomeOf(readings.IDsOf(groups))), Detail: refused.Evidence,
	}
}
