package operations

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
)

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
