package safety

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// FullFaultTolerance asks whether the database could lose as much as its redundancy
// mode promises: every team of storage servers, every set of logs and every
// coordinator complete. Since the database notices a death late, a process that the
// record expects and that vanished a moment ago counts as well.
func FullFaultTolerance(s plan.Snapshot) plan.Check {
	c := plan.Check{Question: "is the database fully fault tolerant?", Gate: plan.GateReplicas}
	status := s.Database.Status
	switch {
	case status == nil:
		c.Evidence = s.Database.Why()
		return c
	case !status.Available():
		c.Evidence = "the database is unavailable"
		return c
	}
	need := fdb.MinimumFaultDomains(redundancyOf(s))
	least, known := status.MinReplicasRemaining()
	c.Need = fmt.Sprintf("%d replicas", need)
	if known {
		c.Have = fmt.Sprintf("%d replicas", least)
	}
	switch {
	case !known:
		c.Evidence = "the replication of the data is not known"
	case least < need:
		c.Evidence = fmt.Sprintf("some data has %d of %d replicas", least, need)
	case !status.LogsFullyReplicated():
		c.Evidence = "a set of logs is not complete"
	case !status.CoordinatorsReachable():
		c.Evidence = "a coordinator does not answer"
	default:
		c.Evidence = justVanished(s)
		c.OK = c.Evidence == ""
		if c.OK {
			c.Evidence = fmt.Sprintf("%d replicas of everything, all coordinators answer", least)
		}
	}
	return c
}

// justVanished names a process group that stays, or that still drains, and whose processes
// stopped reporting too short a time ago for the database's numbers to show it.
func justVanished(s plan.Snapshot) string {
	for _, g := range s.Groups() {
		if why := UnnoticedLoss(s, g); why != "" {
			return why
		}
	}
	reports := whoReports(s.Database.Status)
	for _, g := range s.Groups() {
		if g.IsGone() {
			continue // nothing depends on it any more
		}
		if why := unnoticedDeath(s, g, reports); why != "" {
			return why
		}
	}
	return ""
}

// unnoticedDeath says that a group's processes stopped too short a time before the
// status document was read for its numbers to show it. Of a group that the record calls
// fine and that does not report any more nobody knows since when: it may have been
// restarted by this very pass.
func unnoticedDeath(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, reports func(*v1beta2.ProcessGroupStatus) bool) string {
	if !g.ProcessClass.IsStateful() {
		return ""
	}
	known := false
	for _, t := range []v1beta2.ProcessGroupConditionType{v1beta2.ConditionMissingProcesses, v1beta2.ConditionMissingPod} {
		since, missing := g.Condition(t)
		known = known || missing
		if silent := s.Database.AsOf.Sub(since); missing && silent < fdb.DeathNoticedAfter {
			return fmt.Sprintf("%s stopped reporting %s ago, which the database shows after %s", g.ProcessGroupID, silent.Round(time.Second), fdb.DeathNoticedAfter)
		}
	}
	if !known && !g.IsGone() && !reports(g) {
		return fmt.Sprintf("%s does not report, and nobody has seen yet since when", g.ProcessGroupID)
	}
	return ""
}

// whoReports tells of any process group whether one of its processes reports, as
// reportingOf would. It looks at the processes once, and not once for every group.
func whoReports(status *fdb.Status) func(*v1beta2.ProcessGroupStatus) bool {
	named, at := map[string]bool{}, map[string]bool{}
	if status != nil {
		for _, p := range status.Cluster.Processes {
			switch {
			case !p.Reporting():
			case p.InstanceID() != "":
				named[p.InstanceID()] = true
			default:
				at[p.Address.Host] = true
			}
		}
	}
	return func(g *v1beta2.ProcessGroupStatus) bool {
		return named[string(g.ProcessGroupID)] || slices.ContainsFunc(g.Addresses, func(a string) bool { return at[a] })
	}
}

// reportingOf are a group's processes that report.
func reportingOf(status *fdb.Status, g *v1beta2.ProcessGroupStatus) []fdb.Process {
	return slices.DeleteFunc(processesOf(status, g), func(p fdb.Process) bool { return !p.Reporting() })
}

// MayHoldData reports whether a group leaves without a proof that nothing depends on
// it: spec.processGroupsToRemoveWithoutExclusion asked for that.
func MayHoldData(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return g.IsMarkedForRemoval() && g.ExclusionSkipped && g.ProcessClass.IsStateful() && !NoDatabaseYet(s)
}

// UnnoticedLoss says that a group which left without being drained has lost its pod,
// and that the database cannot have noticed yet what data it thereby lost. Until it
// has, nothing else may go: the two could have held the only copies of something.
func UnnoticedLoss(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	pod := s.Pod(g)
	if !MayHoldData(s, g) || (pod != nil && pod.DeletionTimestamp == nil) {
		return ""
	}
	if !g.HasCondition(v1beta2.ConditionMissingProcesses) {
		return fmt.Sprintf("%s goes without having been drained, and nobody has seen yet since when it is silent", g.ProcessGroupID)
	}
	return unnoticedDeath(s, g, whoReports(s.Database.Status))
}
