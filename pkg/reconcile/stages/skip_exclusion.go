package stages

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// SkipExclusion marks process groups that a person wants gone without their data being moved
// away first, as spec.processGroupsToRemoveWithoutExclusion does, and asks more than that:
// all of the data has to have another copy now, and the database all of its fault tolerance.
// The groups of one fault domain go at a time, and no others while any is on its way.
func SkipExclusion(groups []v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  plan.StageSkipExclusion,
		Reads: plan.Record | plan.Pods | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			due := notYetSkipped(s, groups)
			if len(due) == 0 {
				return plan.Decision{}
			}
			now, later := ofOneDomain(due)
			if going := undrainedBeside(s, now[0]); going != "" {
				return plan.Wait(toleranceRetry, plan.HoldEarlierRemoval, fmt.Sprintf("%s may go once %s is gone and its data has all its copies again", someOf(idsOf(now)), going))
			}
			d := plan.Decision{Checks: mayGoWithData(s, now)}
			if refused, ok := d.Refused(); ok {
				d.Hold = refusedToSkip(now, refused)
				return d
			}
			d.Why = "a person wants them gone without moving their data"
			d.Actions = []plan.Action{plan.MarkForRemoval{Groups: idsOf(now), At: s.Now, WithoutExclusion: true}}
			if len(later) > 0 {
				d.Hold = &plan.Hold{Code: plan.HoldOneFaultDomainAtATime, RetryAfter: toleranceRetry, Subjects: phrase.Strings(idsOf(later)), Reason: fmt.Sprintf("%s have to wait: one fault domain at a time", someOf(idsOf(later)))}
			}
			return d
		},
	}
}

// notYetSkipped are the groups that are still there and not drained: of what is drained
// nothing is left to skip.
func notYetSkipped(s plan.Snapshot, groups []v1beta2.ProcessGroupID) []*v1beta2.ProcessGroupStatus {
	var due []*v1beta2.ProcessGroupStatus
	for _, id := range groups {
		if g := s.Cluster.ProcessGroup(id); g != nil && !g.IsGone() {
			due = append(due, g)
		}
	}
	return due
}

// ofOneDomain splits off those of the first one's fault domain. One whose fault domain is
// not known goes alone.
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

// undrainedBeside names a group of another fault domain that leaves with data on it.
func undrainedBeside(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	for _, other := range s.Groups() {
		if safety.MayHoldData(s, other) && (other.FaultDomain == "" || other.FaultDomain != g.FaultDomain) {
			return string(other.ProcessGroupID)
		}
	}
	return ""
}

// mayGoWithData are the questions before copies of data are given up. Each has to be
// answered with yes.
func mayGoWithData(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) []plan.Check {
	settled, _ := safety.JustStarted(s).Elsewhere(string(groups[0].FaultDomain))
	checks := []plan.Check{
		safety.Available(s.Database), safety.Unlocked(s.Database), safety.FewGenerations(s.Database),
		safety.ReplicaRemains(s, groups), safety.FullFaultTolerance(s), safety.OthersUp(s, groups[0]), settled,
		safety.DataHealthy(s.Database), safety.RecoveredFor(s.Database, minRecoveryAgeToExclude),
	}
	if s.Database.Status != nil {
		checks = append(checks, canHoldWithout(s, groups))
	}
	return checks
}

// refusedToSkip says why nothing is marked. Only for what time alone brings a pass may wait by
// itself: about all else a person has to think again.
func refusedToSkip(groups []*v1beta2.ProcessGroupStatus, refused plan.Check) *plan.Hold {
	return &plan.Hold{
		Code:  plan.HoldCheckRefused,
		Human: refused.Gate != plan.GateRecovery && refused.Gate != plan.GateUptime, RetryAfter: podDelay,
		Subjects: phrase.Strings(idsOf(groups)), Reason: fmt.Sprintf("%s cannot go without their data being moved", someOf(idsOf(groups))), Detail: refused.Words(),
	}
}
