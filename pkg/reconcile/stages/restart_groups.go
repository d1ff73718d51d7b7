package stages

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// Restart is what a person wants restarted, and how.
type Restart struct {
	Groups []v1beta2.ProcessGroupID
	// Since is when the restart was asked for, by the database's own clock. Processes that
	// started later have been restarted.
	Since    time.Time
	Strategy RestartStrategy
}

// RestartGroups restarts the servers of process groups that a person named, one wave of
// them in each pass. The next one goes once all servers of the last one are back, as old as
// the spec wants before any restart, and the database could lose what its redundancy mode
// promises; see calmForRestart and FullFaultTolerance.
//
// It has no memory: what was restarted shows in the age of the processes.
func RestartGroups(r Restart) plan.Stage {
	return plan.Stage{
		Name:  plan.StageRestartGroups,
		Reads: plan.Record | plan.Pods | plan.Database,
		Decide: func(s plan.Snapshot) plan.Decision {
			if available := safety.Available(s.Database); !available.OK {
				return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "nothing is restarted", Detail: available.Evidence, RetryAfter: podDelay}}
			}
			due, silent := r.sort(s)
			if len(due) > 0 {
				if hold := neverNow(s, due); hold != nil {
					return plan.Decision{Hold: hold}
				}
			}
			switch {
			case len(silent) > 0:
				return plan.Wait(podDelay, plan.HoldNotReporting, fmt.Sprintf("not all processes of %s report and tell their age; nothing more is restarted until they do", someOf(silent)))
			case len(due) == 0:
				return plan.Decision{}
			default:
				return r.restart(s, due)
			}
		},
	}
}

// sort tells the groups that have yet to restart, in the order in which they do, from those
// of which nobody knows.
func (r Restart) sort(s plan.Snapshot) (due []*v1beta2.ProcessGroupStatus, silent []string) {
	for _, id := range r.Groups {
		g := s.Cluster.ProcessGroup(id)
		if g == nil {
			continue // it has left the cluster
		}
		switch safety.RestartedSince(s, g, r.Since) {
		case safety.RestartDue:
			due = append(due, g)
		case safety.RestartUnknown:
			silent = append(silent, string(id))
		case safety.RestartDone:
		}
	}
	slices.SortStableFunc(due, func(a, b *v1beta2.ProcessGroupStatus) int { return restartRank(a) - restartRank(b) })
	return due, silent
}

// neverNow says why a restart would do harm that time alone does not undo; nil when nothing
// is known to stand against it.
func neverNow(s plan.Snapshot, due []*v1beta2.ProcessGroupStatus) *plan.Hold {
	const together = "; a pass restarts all of them together"
	switch {
	case incompatibleUpgrade(s.Cluster):
		return &plan.Hold{Code: plan.HoldUpgradeActive, Human: true, Reason: fmt.Sprintf("an upgrade from %s to %s is under way, and a process that starts in the new version cannot talk to the others%s", s.Cluster.RunningVersion(), s.Cluster.Spec.Version, together)}
	case tlsConversion(s.Cluster):
		return &plan.Hold{Code: plan.HoldTLSConversionActive, Human: true, Reason: "the cluster is on its way to TLS or back, and a process that restarts alone may not be reached by the others" + together}
	}
	spared := slices.DeleteFunc(slices.Clone(due), func(g *v1beta2.ProcessGroupStatus) bool {
		return !slices.Contains(s.Cluster.Spec.Buggify.IgnoreDuringRestart, g.ProcessGroupID)
	})
	if len(spared) > 0 {
		return &plan.Hold{Code: plan.HoldRestartsKeptBack, Human: true, Subjects: phrase.Strings(idsOf(spared)), Reason: fmt.Sprintf("%s are kept from restarting by spec.buggify.ignoreDuringRestart", someOf(idsOf(spared)))}
	}
	return nil
}

func (r Restart) restart(s plan.Snapshot, due []*v1beta2.ProcessGroupStatus) plan.Decision {
	wave := r.Strategy.next(s, due)
	d, calm := calmForRestart(s, fmt.Sprintf("%s %s to restart, %s next", phrase.Count(len(due), "process group"), phrase.Is(len(due)), someOf(idsOf(wave))))
	if !calm {
		return d
	}
	settled, missing := safety.JustStarted(s).Elsewhere(dataZones(wave)...)
	for _, check := range []plan.Check{safety.FullFaultTolerance(s), besideOtherMaintenance(s, wave), settled} {
		d.Checks = append(d.Checks, check)
		if !check.OK {
			d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("%s %s to restart, but not now", phrase.Count(len(due), "process group"), phrase.Is(len(due))), Detail: check.Words(), RetryAfter: max(missing, toleranceRetry)}
			return d
		}
	}
	action := plan.RestartProcesses{Groups: idsOf(wave), Wave: r.Strategy != RestartAllAtOnce}
	for _, g := range wave {
		action.Addresses = append(action.Addresses, addressesOf(s.Database.Status, g.ProcessGroupID)...)
	}
	d.Why = "a person wants them restarted"
	d.Actions = []plan.Action{action}
	if left := len(due) - len(wave); left > 0 {
		d.Hold = &plan.Hold{
			Code:       plan.HoldRestartsPending,
			Reason:     fmt.Sprintf("%s %s in later waves, each when all processes have been up for %s", phrase.Count(left, "more process group"), phrase.Either(left, "restarts", "restart"), s.Cluster.MinimumUptimeForBounce()),
			RetryAfter: s.Cluster.MinimumUptimeForBounce(),
		}
	}
	return d
}

// besideOtherMaintenance asks whether those of a wave that keep data are in the one zone
// that may be under maintenance.
func besideOtherMaintenance(s plan.Snapshot, wave []*v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is no other zone under maintenance?", Gate: plan.GateMaintain, OK: true, Evidence: "none is"}
	under := maintenanceZone(s)
	for _, g := range wave {
		if under != "" && g.ProcessClass.IsStateful() && string(g.FaultDomain) != under {
			c.OK, c.Evidence = false, fmt.Sprintf("zone %s is under maintenance, and nothing that keeps data in another may go down until that has ended", under)
		}
	}
	return c
}

// dataZones are the fault domains of those of a wave that may keep data.
func dataZones(wave []*v1beta2.ProcessGroupStatus) []string {
	var zones []string
	for _, g := range wave {
		if safety.MayKeepData(g.ProcessClass) && !slices.Contains(zones, string(g.FaultDomain)) {
			zones = append(zones, string(g.FaultDomain))
		}
	}
	return zones
}

func idsOf(groups []*v1beta2.ProcessGroupStatus) []v1beta2.ProcessGroupID {
	all := make([]v1beta2.ProcessGroupID, len(groups))
	for i, g := range groups {
		all[i] = g.ProcessGroupID
	}
	return all
}
