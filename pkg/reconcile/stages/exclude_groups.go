package stages

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ExcludeGroups excludes process groups that a person named, and that may stay: nobody adds
// others for them. It asks what ExcludeInstances asks, and besides whether what is left can
// hold the data, since FoundationDB itself refuses nothing. A group that is excluded is left
// alone: saying it again would start data distribution anew.
func ExcludeGroups(groups []v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  plan.StageExcludeGroups,
		Reads: plan.Record | plan.Pods | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			due := notExcluded(s, groups)
			if len(due) == 0 {
				return plan.Decision{}
			}
			if available := safety.Available(s.Database); !available.OK {
				return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "nothing can be excluded", Detail: available.Evidence, RetryAfter: podDelay}}
			}
			return wish{exclusions: exclusionsWith(s, due), now: s}.decide()
		},
	}
}

// notExcluded are the groups of which no exclusion is in force, and none was.
func notExcluded(s plan.Snapshot, groups []v1beta2.ProcessGroupID) []v1beta2.ProcessGroupID {
	return slices.DeleteFunc(slices.Clone(groups), func(id v1beta2.ProcessGroupID) bool {
		g := s.Cluster.ProcessGroup(id)
		return g == nil || g.IsExcluded() || safety.Excluded(s, g)
	})
}

// exclusionsWith counts as though the groups were leaving already: those that a person has
// excluded before count as draining, whatever the record knows of them.
func exclusionsWith(s plan.Snapshot, due []v1beta2.ProcessGroupID) *exclusions {
	e := newExclusions(asLeaving(s, due))
	for _, g := range e.s.Groups() {
		switch {
		case g.IsExcluded() || g.ProcessClass.IsTester():
		case safety.Excluded(s, g) && g.IsMarkedForRemoval():
			e.ongoing[g.ProcessClass]++
		case slices.Contains(due, g.ProcessGroupID):
			e.sort(g)
		}
	}
	return e
}

// asLeaving is the record as it would be if the groups were marked for removal, and had every
// other group that is excluded the condition which says so. Nobody writes it.
func asLeaving(s plan.Snapshot, due []v1beta2.ProcessGroupID) plan.Snapshot {
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

// wish is what a person wants excluded, sorted.
type wish struct {
	*exclusions
	// now are the facts as they are.
	now plan.Snapshot
}

func (w wish) decide() plan.Decision {
	switch {
	case len(w.unreachable) > 0:
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldNoAddress, Human: true, Subjects: w.unreachable, Reason: fmt.Sprintf("%s never had an address to exclude", someOf(w.unreachable))}}
	case len(w.candidates) == 0 && len(w.coordinators) == 0:
		return plan.Decision{Hold: &plan.Hold{Code: plan.HoldNeverExcluded, Human: true, Reason: "processes of class test hold nothing, and are never excluded"}}
	case len(w.candidates) == 0:
		return plan.Decision{Hold: coordinatorsFirst(w.coordinators)}
	}
	d, calm := w.calm()
	if !calm {
		return d
	}
	allowed, checks := w.allowed()
	d.Checks = append(d.Checks, checks...)
	if refused, found := d.Refused(); found && len(allowed) == 0 {
		d.Hold = w.noRoom(refused)
		return d
	}
	left := canHoldWithout(w.now, allowed)
	d.Checks = append(d.Checks, left)
	if !left.OK {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Human: true, Subjects: phrase.Strings(idsOf(allowed)), Reason: fmt.Sprintf("without %s", someOf(idsOf(allowed))), Detail: left.Words()}
		return d
	}
	d.Why = "a person wants them excluded"
	d.Actions = []plan.Action{w.exclusion(allowed)}
	if refused, found := d.Refused(); found || len(allowed) < len(w.candidates) {
		d.Hold = w.noRoom(refused)
	} else if len(w.coordinators) > 0 {
		d.Hold = coordinatorsFirst(w.coordinators)
	}
	return d
}

// coordinatorsFirst waits for the coordinators to move off process groups.
func coordinatorsFirst(groups []string) *plan.Hold {
	return &plan.Hold{
		Code: plan.HoldCoordinatorsFirst, Subjects: groups, RetryAfter: exclusionRetry, Follows: true,
		Reason: someOf(groups) + " are coordinators; coordinators move first",
	}
}

// noRoom holds for want of processes that could take over. Time helps where some of the
// class may come back, or are being replaced; otherwise a person has to.
func (w wish) noRoom(refused plan.Check) *plan.Hold {
	const advice = "a replacement brings a new one first"
	if refused.ID == "" {
		return &plan.Hold{Code: plan.HoldExclusionBudget, Human: true, Reason: "no more of the class may be excluded at the same time; " + advice}
	}
	waits := slices.ContainsFunc(w.now.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
		return w.wants(g.ProcessClass) && (g.IsMarkedForRemoval() || g.HasCondition(v1beta2.ConditionMissingProcesses) || g.HasCondition(v1beta2.ConditionMissingPod))
	})
	if waits {
		return &plan.Hold{Code: plan.HoldExclusionBudget, Reason: "nothing more may be excluded yet", Detail: refused.Words(), RetryAfter: exclusionRetry}
	}
	return &plan.Hold{Code: plan.HoldExclusionBudget, Human: true, Reason: fmt.Sprintf("nothing more may be excluded (%s); %s", refused.Words(), advice)}
}

func (w wish) wants(class v1beta2.ProcessClass) bool {
	return slices.ContainsFunc(w.candidates, func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessClass == class })
}

// canHoldWithout asks whether the processes that are left can carry the configuration in
// force. That is asked for those that keep data or logs; others can be fewer.
func canHoldWithout(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) plan.Check {
	keeping := slices.DeleteFunc(slices.Clone(groups), func(g *v1beta2.ProcessGroupStatus) bool { return !g.ProcessClass.IsStateful() })
	if len(keeping) == 0 {
		return plan.Check{ID: plan.CheckDataFits, Question: "can the processes that are left hold the data?", OK: true, Evidence: "none of those that go keeps any", Gate: plan.GateConfig}
	}
	if s.Database.Status.Cluster.Configuration == nil {
		return plan.Check{ID: plan.CheckDataFits, Question: "can the processes that are left hold the data?", Evidence: "the status document does not tell the configuration", Gate: plan.GateConfig}
	}
	status := *s.Database.Status
	status.Cluster.Processes = maps.Clone(status.Cluster.Processes)
	maps.DeleteFunc(status.Cluster.Processes, func(_ string, p fdb.Process) bool {
		return slices.Contains(idsOf(keeping), v1beta2.ProcessGroupID(p.InstanceID()))
	})
	return safety.CanHold(plan.DatabaseFacts{Status: &status, AsOf: s.Database.AsOf}, *status.Cluster.Configuration)
}

// moveCoordinatorsOff changes coordinators where one of the groups is one that is yet to be
// excluded, as it would if the group were leaving.
func moveCoordinatorsOff(groups []v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  changeCoordinators.Name,
		Reads: changeCoordinators.Reads,
		Decide: func(s plan.Snapshot) plan.Decision {
			due := slices.DeleteFunc(notExcluded(s, groups), func(id v1beta2.ProcessGroupID) bool {
				return !safety.Coordinates(s, s.Cluster.ProcessGroup(id))
			})
			if len(due) == 0 {
				return plan.Decision{}
			}
			d := changeCoordinators.Decide(asLeaving(s, notExcluded(s, groups)))
			why := fmt.Sprintf("%s are coordinators, and coordinators move before their processes are excluded", someOf(due))
			if len(d.Actions) > 0 {
				d.Why = why
			}
			if refused, found := d.Refused(); d.Hold != nil && found {
				d.Hold.Reason, d.Hold.Detail = why+"; that has to wait", refused.Words()
			}
			return d
		},
	}
}
