package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// ChangeCoordinators keeps as many coordinators as the redundancy mode needs, each in its
// own fault domain.
//
// The operator never finds a coordinator that the cluster file names by DNS among the
// processes, and so applies the shorter of its two waits to every change; here a coordinator
// is found under either name.
var ChangeCoordinators = MoveCoordinators()

// MoveCoordinators returns the stage that changes coordinators, with process groups that a
// user excludes from the choice: others are chosen by the same rules, after the same waits.
func MoveCoordinators(away ...v1beta2.ProcessGroupID) plan.Stage {
	return plan.Stage{
		Name:  plan.StageChangeCoordinators,
		Reads: plan.ClusterResource | plan.Pods | plan.Database | plan.Coordination,
		Decide: func(s plan.Snapshot) plan.Decision {
			if !s.Cluster.Status.Configured {
				return plan.Decision{}
			}
			if available := safety.Available(s.Database); !available.OK {
				return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "cannot determine whether the coordinators are valid", Detail: available.Evidence, RetryAfter: plan.PodDelay}}
			}
			if known := safety.CoordinatorsKnown(s.Database); !known.OK {
				return plan.Decision{Checks: []plan.Check{known}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "cannot determine whether the coordinators are valid", Detail: known.Evidence, RetryAfter: plan.PodDelay}}
			}
			verdict := safety.JudgeCoordinators(s, away...)
			if verdict.Valid() {
				return plan.Decision{}
			}
			if verdict.Undecidable != "" {
				return plan.WaitBehind(plan.PodDelay, plan.HoldListenersChanging, "the coordinator change waits for the change of listeners: "+verdict.Undecidable)
			}
			return moveCoordinators(s, verdict, away)
		},
	}
}

// moveCoordinators replaces coordinators that cannot stay. Where too few processes report
// for the desired number, it chooses the best possible smaller number; the operator keeps the
// present coordinators then.
func moveCoordinators(s plan.Snapshot, verdict safety.Coordinators, away []v1beta2.ProcessGroupID) plan.Decision {
	problems := strings.Join(verdict.Problems, "; ")
	d := plan.Decision{Checks: coordinatorChecks(s, verdict)}
	refused, waits := d.Refused()
	chosen := chooseCoordinators(s, verdict.Tolerance, away)
	switch {
	case waits && (len(chosen.candidates) > 0 || len(verdict.Missing) > 0):
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("the coordinator change waits (%s)", problems), Detail: refused.Evidence, RetryAfter: coordinatorRetry}
	case len(chosen.candidates) == 0:
		// A shortage is reported before the waits are over.
		d.Hold = &plan.Hold{Code: plan.HoldNoBetterCoordinators, Manual: !waits && !processesMayStart(s), RetryAfter: coordinatorRetry, Reason: fmt.Sprintf("%s, and no better coordinators are available: %s", problems, chosen.short)}
	case safety.ActsTogether(s.Cluster) && !s.Coordination.Lists.Read:
		d.Hold = &plan.Hold{Code: plan.HoldSharedListsUnread, Reason: fmt.Sprintf("%s; cannot determine which processes other control-plane instances remove: %s", problems, readings.ListsUnread), RetryAfter: coordinatorRetry}
	case chosen.short != "" && len(verdict.Missing) == 0 && processesMayStart(s):
		d.Hold = &plan.Hold{Code: plan.HoldProcessesStarting, RetryAfter: coordinatorRetry, Reason: fmt.Sprintf("%s; the coordinator change waits for starting processes: %s", problems, chosen.short)}
	default:
		d.Why = problems
		d.Actions = []plan.Action{plan.ChangeCoordinators{Coordinators: chosen.addresses()}}
		if chosen.short != "" {
			d.Hold = &plan.Hold{Code: plan.HoldCoordinatorsIncomplete, RetryAfter: coordinatorRetry, Reason: fmt.Sprintf("%s %s the best choice for now: %s", phrase.Count(len(chosen.candidates), "coordinator"), phrase.Is(len(chosen.candidates)), chosen.short)}
		}
	}
	return d
}

// startGracePeriod is how long a process that does not report may still be starting. Default
// 5 min, as for exclusions.
const startGracePeriod = 5 * time.Minute

// processesMayStart reports whether a process group that is eligible for coordinators has
// stopped reporting only recently: it may report soon, and needs no intervention until then.
func processesMayStart(s plan.Snapshot) bool {
	return slices.ContainsFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
		if _, eligible := s.Cluster.CoordinatorPriority(g.ProcessClass); !eligible || g.IsMarkedForRemoval() {
			return false
		}
		reports := s.Database.Status.ProcessesThat(func(p fdb.Process) bool { return p.InstanceID() == string(g.ProcessGroupID) && p.Reporting() })
		since, missing := g.Condition(v1beta2.ConditionMissingProcesses)
		return len(reports) == 0 && (!missing || s.Now.Sub(since) < startGracePeriod)
	})
}

// The minimum time since the last recovery. A missing coordinator is replaced sooner than a
// misplaced one. Defaults 2 min and 5 min; source: the operator's flags
// minimum-uptime-for-coordinator-change-with-*.
const (
	minRecoveryAgeMissingCoordinator   = 2 * time.Minute
	minRecoveryAgeUndesiredCoordinator = 5 * time.Minute
)

// coordinatorRetry is when a refused coordinator change is checked again.
const coordinatorRetry = 10 * time.Second

func coordinatorChecks(s plan.Snapshot, verdict safety.Coordinators) []plan.Check {
	checks := []plan.Check{safety.Available(s.Database), safety.Unlocked(s.Database)}
	if len(verdict.Missing) > 0 {
		return append(checks, safety.RecoveredFor(s.Database, minRecoveryAgeMissingCoordinator), safety.StaysAway(s, verdict.Missing))
	}
	return append(checks, safety.FewGenerations(s.Database), safety.RecoveredFor(s.Database, minRecoveryAgeUndesiredCoordinator))
}

// coordinatorCandidates returns the processes that can be coordinators and are not being
// removed: by the status, and for other control-plane instances by their lists.
func coordinatorCandidates(s plan.Snapshot, away []v1beta2.ProcessGroupID) []readings.Candidate {
	marked := map[v1beta2.ProcessGroupID]bool{}
	for _, m := range s.Coordination.Lists.Members(fdb.PendingForRemoval) {
		marked[v1beta2.ProcessGroupID(m.Group)] = true
	}
	for _, g := range s.Groups() {
		marked[g.ProcessGroupID] = g.IsMarkedForRemoval()
	}
	for _, id := range away {
		marked[id] = true
	}
	var candidates []readings.Candidate
	for _, p := range s.Database.Status.ProcessList() {
		id := v1beta2.ProcessGroupID(p.InstanceID())
		priority, eligible := s.Cluster.CoordinatorPriority(v1beta2.ProcessClass(p.ClassType))
		if !p.Reporting() || !eligible || p.IsExcluded() || p.IsUnderMaintenance() || marked[id] {
			continue
		}
		if s.Cluster.UseDNSInClusterFile() && p.Locality[fdb.LocalityDNSName] == "" {
			continue
		}
		address, err := safety.CoordinatorAddress(s.Cluster, p)
		if err != nil {
			continue // it has no listener of the desired kind yet
		}
		candidates = append(candidates, readings.Candidate{Group: id, Priority: lastResort(s, p, priority), Localities: p.Locality, Address: address})
	}
	return candidates
}

// lastResortPriority puts a process after all others.
const lastResortPriority = -1 << 32

// lastResort lowers the priority of a process that will be restarted soon, because it runs
// another version than the desired one or a binary from the shared volume.
func lastResort(s plan.Snapshot, p fdb.Process, priority int) int {
	if p.Version == s.Cluster.Spec.Version && !strings.HasPrefix(p.CommandLine, "/var/") {
		return priority
	}
	return priority + lastResortPriority
}
