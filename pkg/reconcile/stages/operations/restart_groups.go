package operations

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
)

// Restart is what a user requests to restart, and how.
type Restart struct {
	Groups []v1beta2.ProcessGroupID
	// Since is when the restart was requested, by the database's clock. Processes that started
	// later have been restarted.
	Since    time.Time
	Strategy RestartStrategy
}

// RestartGroups returns a stage that restarts the processes of named process groups, one wave
// per pass. The next wave restarts once all processes of the last one report, have been up for
// the minimum uptime of the spec, and the database has its full fault tolerance; see
// restartForbidden and safety.FullFaultTolerance.
//
// It keeps no state: the uptime of the processes shows what was restarted.
func RestartGroups(r Restart) plan.Stage {
	return plan.Stage{
		Name:  plan.StageRestartGroups,
		Reads: plan.ClusterResource | plan.Pods | plan.Database,
		Decide: func(s plan.Snapshot) plan.Decision {
			if available := safety.Available(s.Database); !available.OK {
				return plan.Decision{Checks: []plan.Check{available}, Hold: &plan.Hold{Code: plan.HoldDatabaseUnavailable, Reason: "no process is restarted", Detail: available.Evidence, RetryAfter: plan.PodDelay}}
			}
			due, unknown := r.Classify(s)
			if len(due) > 0 {
				if hold := restartForbidden(s, due); hold != nil {
					return plan.Decision{Hold: hold}
				}
			}
			switch {
			case len(unknown) > 0:
				return plan.Wait(plan.PodDelay, plan.HoldNotReporting, fmt.Sprintf("no further restarts until all processes of %s report with their uptime", readings.SomeOf(unknown)))
			case len(due) == 0:
				return plan.Decision{}
			default:
				return r.restart(s, due)
			}
		},
	}
}

// Classify returns the groups that have yet to restart, in the order of their restarts, and
// those of which that is unknown.
func (r Restart) Classify(s plan.Snapshot) (due []*v1beta2.ProcessGroupStatus, unknown []string) {
	for _, id := range r.Groups {
		g := s.Cluster.ProcessGroup(id)
		if g == nil {
			continue // it was removed
		}
		switch safety.RestartedSince(s, g, r.Since) {
		case safety.RestartDue:
			due = append(due, g)
		case safety.RestartUnknown:
			unknown = append(unknown, string(id))
		case safety.RestartDone, safety.RestartOfNone:
		}
	}
	slices.SortStableFunc(due, func(a, b *v1beta2.ProcessGroupStatus) int { return restartRank(a) - restartRank(b) })
	return due, unknown
}

// restartForbidden returns a hold if a restart would do harm that time alone does not undo; nil
// if nothing is known to prevent it.
func restartForbidden(s plan.Snapshot, due []*v1beta2.ProcessGroupStatus) *plan.Hold {
	const together = "; a pass restarts all of them together"
	switch {
	case readings.IncompatibleUpgrade(s.Cluster):
		return &plan.Hold{Code: plan.HoldUpgradeActive, Manual: true, Reason: fmt.Sprintf("an upgrade from %s to %s is in progress, and a process that starts in the new version is incompatible with the others%s", s.Cluster.RunningVersion(), s.Cluster.Spec.Version, together)}
	case readings.TLSConversion(s.Cluster):
		return &plan.Hold{Code: plan.HoldTLSConversionActive, Manual: true, Reason: "the conversion to or from TLS is in progress, and the others may not reach a process that restarts alone" + together}
	}
	spared := slices.DeleteFunc(slices.Clone(due), func(g *v1beta2.ProcessGroupStatus) bool {
		return !slices.Contains(s.Cluster.Spec.Buggify.IgnoreDuringRestart, g.ProcessGroupID)
	})
	if len(spared) > 0 {
		return &plan.Hold{Code: plan.HoldRestartsKeptBack, Manual: true, Subjects: phrase.Strings(readings.IDsOf(spared)), Reason: fmt.Sprintf("%s are kept from restarting by spec.buggify.ignoreDuringRestart", readings.SomeOf(readings.IDsOf(spared)))}
	}
	return nil
}

// MayRestart returns the checks before the first wave of groups restarts.
func (r Restart) MayRestart(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) []plan.Check {
	d, ok := cluster.CheckRestart(s, "")
	if !ok || len(groups) == 0 {
		return d.Checks
	}
	alone := plan.Check{ID: plan.CheckRestartsAlone, Question: "may these processes restart while others do not?", OK: true, Evidence: "no upgrade and no TLS conversion prevents it"}
	if hold := restartForbidden(s, groups); hold != nil {
		alone.OK, alone.Evidence = false, hold.Reason
		return append(d.Checks, alone)
	}
	d.Checks = append(d.Checks, alone)
	due := slices.Clone(groups)
	slices.SortStableFunc(due, func(a, b *v1beta2.ProcessGroupStatus) int { return restartRank(a) - restartRank(b) })
	checks, _ := waveChecks(s, r.Strategy.Next(s, due))
	return append(d.Checks, checks...)
}

// waveChecks returns the checks of a wave up to the first that fails: a process that does not report
// may hold the only other copies. Missing is how much of the time remains.
func waveChecks(s plan.Snapshot, wave []*v1beta2.ProcessGroupStatus) (checks []plan.Check, missing time.Duration) {
	settled, missing := safety.JustStarted(s).Elsewhere(dataZones(wave)...)
	for _, check := range []plan.Check{safety.FullFaultTolerance(s), checkWaveMaintenance(s, wave), settled} {
		checks = append(checks, check)
		if !check.OK {
			break
		}
	}
	return checks, missing
}

func (r Restart) restart(s plan.Snapshot, due []*v1beta2.ProcessGroupStatus) plan.Decision {
	wave := r.Strategy.Next(s, due)
	d, ok := cluster.CheckRestart(s, fmt.Sprintf("%s to restart, %s next", phrase.Count(len(due), "process group"), readings.SomeOf(readings.IDsOf(wave))))
	if !ok {
		return d
	}
	checks, missing := waveChecks(s, wave)
	d.Checks = append(d.Checks, checks...)
	if refused, found := d.Refused(); found {
		d.Hold = &plan.Hold{Code: plan.HoldCheckRefused, Reason: fmt.Sprintf("restart of %s waits", phrase.Count(len(due), "process group")), Detail: refused.Evidence, RetryAfter: max(missing, cluster.ToleranceRetry)}
		return d
	}
	action := plan.RestartProcesses{Groups: readings.IDsOf(wave), Wave: r.Strategy != RestartAllAtOnce}
	for _, g := range wave {
		action.Addresses = append(action.Addresses, readings.AddressesOf(s.Database.Status, g.ProcessGroupID)...)
	}
	d.Why = plan.RequestedByUser
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

// checkWaveMaintenance checks whether the groups of a wave that hold data are in the one zone
// that may be under maintenance.
func checkWaveMaintenance(s plan.Snapshot, wave []*v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is no other zone under maintenance?", Gate: plan.GateMaintain, OK: true, Evidence: "none is"}
	under, unread := cluster.MaintenanceZone(s)
	for _, g := range wave {
		if unread && g.ProcessClass.IsStateful() {
			c.OK, c.Evidence = false, safety.MaintenanceKnown(s.Database).Evidence
		}
		if under != "" && g.ProcessClass.IsStateful() && string(g.FaultDomain) != under {
			c.OK, c.Evidence = false, fmt.Sprintf("zone %s is under maintenance; until it ends, no process with data in another zone may go down", under)
		}
	}
	return c
}

// dataZones returns the fault domains of the groups of a wave that may hold data.
func dataZones(wave []*v1beta2.ProcessGroupStatus) []string {
	var zones []string
	for _, g := range wave {
		if safety.MayKeepData(g.ProcessClass) && !slices.Contains(zones, string(g.FaultDomain)) {
			zones = append(zones, string(g.FaultDomain))
		}
	}
	return zones
}

// RestartStrategy is how many process groups restart at once.
type RestartStrategy string

// The strategies.
const (
	// RestartByWave restarts the groups of one class at once: of classes that hold data, and of
	// coordinators, those of one fault domain.
	RestartByWave RestartStrategy = "wave"
	// RestartRolling restarts one process group at a time.
	RestartRolling RestartStrategy = "rolling"
	// RestartAllAtOnce restarts all of them at once, which costs one recovery; the database is
	// unavailable until they report.
	RestartAllAtOnce RestartStrategy = "all-at-once"
)

// RestartStrategies returns all strategies, the default first.
func RestartStrategies() []RestartStrategy {
	return []RestartStrategy{RestartByWave, RestartRolling, RestartAllAtOnce}
}

// Next returns the due groups that restart now.
func (r RestartStrategy) Next(s plan.Snapshot, due []*v1beta2.ProcessGroupStatus) []*v1beta2.ProcessGroupStatus {
	switch r {
	case RestartAllAtOnce:
		return due
	case RestartByWave:
		return slices.DeleteFunc(slices.Clone(due), func(g *v1beta2.ProcessGroupStatus) bool { return !sameWave(s, due[0], g) })
	case RestartRolling:
	}
	return due[:1]
}

func sameWave(s plan.Snapshot, first, g *v1beta2.ProcessGroupStatus) bool {
	switch {
	case g.ProcessGroupID == first.ProcessGroupID:
		return true
	case g.ProcessClass != first.ProcessClass:
		return false
	case staysUpElsewhere(s, first) || staysUpElsewhere(s, g):
		return g.FaultDomain != "" && g.FaultDomain == first.FaultDomain
	default:
		return true
	}
}

// staysUpElsewhere reports whether the database is available only as long as other fault domains
// have the roles of this group. A group without a class may have any role.
func staysUpElsewhere(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return g.ProcessClass.IsStateful() || g.ProcessClass == v1beta2.ProcessClassUnset || safety.Coordinates(s, g)
}

// restartRank puts storage first, which costs no recovery. Groups without data come last.
func restartRank(g *v1beta2.ProcessGroupStatus) int {
	switch {
	case g.ProcessClass == v1beta2.ProcessClassStorage:
		return 0
	case g.ProcessClass.IsStateful() || g.ProcessClass == v1beta2.ProcessClassUnset:
		return 1
	default:
		return 2 + slices.Index(v1beta2.ProcessClasses(), g.ProcessClass)
	}
}
