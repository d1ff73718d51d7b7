package safety

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// FullFaultTolerance asks whether the database could lose as much as its redundancy
// mode promises: every team of storage servers, every set of logs and every
// coordinator complete. Since the database notices a death late, a process that the
// record expects and that vanished a moment ago counts as well.
func FullFaultTolerance(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckFaultTolerant, Question: "is the database fully fault tolerant?", Gate: plan.GateReplicas}
	status := s.Database.Status
	switch {
	case status == nil:
		c.Evidence = s.Database.Why()
		return c
	case !status.Available():
		c.Evidence = "the database is unavailable"
		return c
	case status.Incomplete():
		c.Evidence = incompleteDocument
		return c
	}
	need, told := replicasWanted(s)
	if !told {
		c.Evidence = unknownRedundancy(s)
		return c
	}
	least, known := status.MinReplicasRemaining()
	have, wanted := phrase.Count(least, "replica"), phrase.Count(need, "replica")
	switch { // a number that does not decide is not shown beside what is needed
	case !known:
		c.Need = wanted
		c.Evidence = "the replication of the data is not known"
	case least < need:
		c.Have, c.Need = have, wanted
		c.Evidence = "some data has " + phrase.CountOf(least, need, "replica")
	case !status.LogsFullyReplicated():
		c.Evidence = "a set of logs is not complete"
	case !status.CoordinatorsReachable():
		c.Evidence = "a coordinator does not answer"
	default:
		c.Evidence = justVanished(s)
		c.OK = c.Evidence == ""
		if c.OK {
			c.Have, c.Need = have, wanted
			c.Evidence = phrase.Count(least, "replica") + " of all data, all coordinators reachable"
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
	reporting := whoReports(s.Database.Status)
	for _, g := range s.Groups() {
		if g.IsGone() {
			continue // nothing depends on it any more
		}
		if why := unnoticedDeath(s, g, reporting); why != "" {
			return why
		}
	}
	return ""
}

// unnoticedDeath says that a group's processes stopped too short a time before the
// status document was read for its numbers to show it. Of a group that the record calls
// fine and that does not report any more nobody knows since when: it may have been
// restarted by this very pass.
func unnoticedDeath(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, reporting func(*v1beta2.ProcessGroupStatus) int) string {
	if !g.ProcessClass.IsStateful() {
		return ""
	}
	since, missing := silentSince(s, g)
	silent := s.Database.AsOf.Sub(since)
	switch {
	case missing && silent < fdb.DeathNoticedAfter:
		return fmt.Sprintf("%s stopped reporting %s ago, which the database shows after %s", g.ProcessGroupID, max(0, silent).Round(time.Second), fdb.DeathNoticedAfter)
	case missing || g.IsGone():
		return ""
	}
	switch up, all := reporting(g), serversOf(s, g); {
	case up == 0:
		return fmt.Sprintf("%s does not report, since when is unknown", g.ProcessGroupID)
	case up < all:
		return fmt.Sprintf("%s of %s %s not report, since when is unknown", phrase.CountOf(all-up, all, "process"), g.ProcessGroupID, phrase.EitherOf(all-up, all, "does", "do"))
	default:
		return ""
	}
}

// silentSince is since when a group has been silent without a break. The record says when that
// was first seen and nobody may have looked since, so it counts from the last start or end of
// its servers that Kubernetes tells of.
func silentSince(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) (since time.Time, missing bool) {
	since, missing = missingSince(g)
	return unbroken(s, g, since), missing
}

// unbroken is since when a silence that was seen then has lasted without a break.
func unbroken(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, seen time.Time) time.Time {
	if alive := lastAlive(s.Pod(g)); alive.After(seen) {
		return alive
	}
	return seen
}

// lastAlive is when the container of a pod's servers last started or ended; zero when that is
// not known. The image's own monitor can start them anew without it.
func lastAlive(pod *corev1.Pod) time.Time {
	var last time.Time
	for _, c := range mainContainers(pod) {
		for _, state := range []corev1.ContainerState{c.State, c.LastTerminationState} {
			if state.Running != nil && state.Running.StartedAt.After(last) {
				last = state.Running.StartedAt.Time
			}
			if state.Terminated != nil && state.Terminated.FinishedAt.After(last) {
				last = state.Terminated.FinishedAt.Time
			}
		}
	}
	return last
}

func mainContainers(pod *corev1.Pod) []corev1.ContainerStatus {
	if pod == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(pod.Status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
		return c.Name != v1beta2.ContainerMain
	})
}

// whoReports tells of any process group how many of its processes report, as reportingOf
// would. It looks at the processes once, and not once for every group.
func whoReports(status *fdb.Status) func(*v1beta2.ProcessGroupStatus) int {
	named, at := map[string]int{}, map[string]int{}
	if status != nil {
		for _, p := range status.Cluster.Processes {
			switch {
			case !p.Reporting():
			case p.InstanceID() != "":
				named[p.InstanceID()]++
			default:
				at[p.Address.Host]++
			}
		}
	}
	return func(g *v1beta2.ProcessGroupStatus) int {
		n := named[string(g.ProcessGroupID)]
		for _, a := range g.Addresses {
			n += at[a]
		}
		return n
	}
}

// reportingOf are a group's processes that report.
func reportingOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []fdb.Process {
	return slices.DeleteFunc(processesOf(s, g), func(p fdb.Process) bool { return !p.Reporting() })
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
