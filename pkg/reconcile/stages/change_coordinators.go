package stages

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// changeCoordinators keeps as many coordinators as the redundancy mode needs,
// each in a fault domain of its own.
//
// The operator never finds a coordinator that the cluster file names by DNS among
// the processes, and so applies the weaker of its two waits to every change; here
// a coordinator is found under either name.
var changeCoordinators = MoveCoordinators()

// MoveCoordinators is the step that changes coordinators, for somebody who wants some
// process groups to be none: others are chosen by the same rules, and after the same waits.
func MoveCoordinators(away ...v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  plan.StageChangeCoordinators,
		Reads: plan.Record | plan.Pods | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			if !s.Cluster.Status.Configured {
				return plan.Decision{}
			}
			if available := safety.Available(s.Database); !available.OK {
				return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "coordinators cannot be judged", Detail: available.Evidence, RetryAfter: podDelay}}
			}
			verdict := safety.JudgeCoordinators(s, away...)
			if verdict.Valid() {
				return plan.Decision{}
			}
			if verdict.Undecidable != "" {
				return plan.WaitBehind(podDelay, plan.HoldListenersChanging, "the change of coordinators waits until listeners have changed: "+verdict.Undecidable)
			}
			return moveCoordinators(s, verdict, away)
		},
	}
}

// moveCoordinators changes coordinators that cannot stay. Where too few processes report
// for as many as the spec wants, it takes the best number on the way; the operator keeps
// what there is then.
func moveCoordinators(s plan.Snapshot, verdict safety.Coordinators, away []v1beta2.ProcessGroupID) plan.Decision {
	problems := strings.Join(verdict.Problems, "; ")
	d := plan.Decision{Checks: coordinatorChecks(s, verdict)}
	refused, waits := d.Refused()
	chosen := chooseCoordinators(s, verdict.Tolerance, away)
	switch {
	case waits && (len(chosen.candidates) > 0 || len(verdict.Missing) > 0):
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("%s; the change has to wait", problems), Detail: refused.Words(), RetryAfter: coordinatorRetry}
	case len(chosen.candidates) == 0:
		// What is missing is known before the waits are over.
		d.Hold = &plan.Hold{Code: plan.HoldNoBetterCoordinators, Human: !waits && !someMayReport(s), RetryAfter: coordinatorRetry, Reason: fmt.Sprintf("%s, and no better ones can be chosen: %s", problems, chosen.short)}
	case safety.ActsTogether(s.Cluster) && !s.Coordination.Lists.Read:
		d.Hold = &plan.Hold{Code: plan.HoldSharedListsUnread, Reason: fmt.Sprintf("%s; which processes of other instances leave is not known: %s", problems, listsUnread), RetryAfter: coordinatorRetry}
	case chosen.short != "" && len(verdict.Missing) == 0 && someMayReport(s):
		d.Hold = &plan.Hold{Code: plan.HoldProcessesStarting, RetryAfter: coordinatorRetry, Reason: fmt.Sprintf("%s; the change waits for processes that are starting: %s", problems, chosen.short)}
	default:
		d.Why = problems
		d.Actions = []plan.Action{plan.ChangeCoordinators{Coordinators: chosen.addresses()}}
		if chosen.short != "" {
			d.Hold = &plan.Hold{Code: plan.HoldCoordinatorsIncomplete, RetryAfter: coordinatorRetry, Reason: fmt.Sprintf("%s %s the best number for now: %s", phrase.Count(len(chosen.candidates), "coordinator"), phrase.Is(len(chosen.candidates)), chosen.short)}
		}
	}
	return d
}

// startPatience is how long a server that does not report may still be starting. Default
// 5 min, as for exclusions.
const startPatience = 5 * time.Minute

// someMayReport reports whether a process group that can have a coordinator is silent, and
// not for long: it may be one soon, and nobody has to be called until then.
func someMayReport(s plan.Snapshot) bool {
	return slices.ContainsFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
		if _, eligible := s.Cluster.CoordinatorPriority(g.ProcessClass); !eligible || g.IsMarkedForRemoval() {
			return false
		}
		reports := s.Database.Status.ProcessesThat(func(p fdb.Process) bool { return p.InstanceID() == string(g.ProcessGroupID) && p.Reporting() })
		since, missing := g.Condition(v1beta2.ConditionMissingProcesses)
		return len(reports) == 0 && (!missing || s.Now.Sub(since) < startPatience)
	})
}

// How long ago the last recovery has to be. A coordinator that is missing is
// replaced sooner than one that is merely not as it should be. Defaults 2 min and
// 5 min; source: the operator's flags minimum-uptime-for-coordinator-change-with-*.
const (
	minRecoveryAgeMissingCoordinator   = 2 * time.Minute
	minRecoveryAgeUndesiredCoordinator = 5 * time.Minute
)

// coordinatorRetry is when to look again after a change of coordinators was not safe.
const coordinatorRetry = 10 * time.Second

func coordinatorChecks(s plan.Snapshot, verdict safety.Coordinators) []plan.Check {
	checks := []plan.Check{safety.Available(s.Database), safety.Unlocked(s.Database)}
	if len(verdict.Missing) > 0 {
		return append(checks, safety.RecoveredFor(s.Database, minRecoveryAgeMissingCoordinator), safety.StaysAway(s, verdict.Missing))
	}
	return append(checks, safety.FewGenerations(s.Database), safety.RecoveredFor(s.Database, minRecoveryAgeUndesiredCoordinator))
}

// coordinatorCandidates are the processes that can be coordinators and do not leave: by
// the record, and for other instances' by what they list.
func coordinatorCandidates(s plan.Snapshot, away []v1beta2.ProcessGroupID) []candidate {
	leaving := map[v1beta2.ProcessGroupID]bool{}
	for _, m := range s.Coordination.Lists.Members(fdb.PendingForRemoval) {
		leaving[v1beta2.ProcessGroupID(m.Group)] = true
	}
	for _, g := range s.Groups() {
		leaving[g.ProcessGroupID] = g.IsMarkedForRemoval()
	}
	for _, id := range away {
		leaving[id] = true
	}
	var candidates []candidate
	for _, p := range s.Database.Status.ProcessList() {
		id := v1beta2.ProcessGroupID(p.InstanceID())
		priority, eligible := s.Cluster.CoordinatorPriority(v1beta2.ProcessClass(p.ClassType))
		if !p.Reporting() || !eligible || p.IsExcluded() || p.IsUnderMaintenance() || leaving[id] {
			continue
		}
		if s.Cluster.UseDNSInClusterFile() && p.Locality[fdb.LocalityDNSName] == "" {
			continue
		}
		address, err := safety.CoordinatorAddress(s.Cluster, p)
		if err != nil {
			continue // it has no listener of the wanted kind yet
		}
		candidates = append(candidates, candidate{group: id, priority: lastResort(s, p, priority), localities: p.Locality, address: address})
	}
	return candidates
}

// lastResortPriority puts a process behind all others.
const lastResortPriority = -1 << 32

// lastResort lowers the priority of a process that will be restarted soon, because
// it runs another version than the spec wants or a binary from the shared volume.
func lastResort(s plan.Snapshot, p fdb.Process, priority int) int {
	if p.Version == s.Cluster.Spec.Version && !strings.HasPrefix(p.CommandLine, "/var/") {
		return priority
	}
	return priority + lastResortPriority
}
