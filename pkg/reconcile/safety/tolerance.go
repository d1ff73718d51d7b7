package safety

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// FullFaultTolerance checks whether the database can lose as much as its redundancy mode
// allows: every team of storage processes, every set of logs and all coordinators complete.
// Since the database notices a loss late, an expected process that just stopped reporting
// counts as well.
func FullFaultTolerance(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckFaultTolerant, Question: "is the database fully fault tolerant?", Gate: plan.GateReplicas}
	status := s.Database.Status
	switch {
	case status == nil:
		c.Evidence = noStatus(s.Database)
		return c
	case !status.Available():
		c.Evidence = "the database is unavailable"
		return c
	case status.Incomplete():
		c.Evidence = incompleteDocument
		return c
	}
	need, reported := replicasDesired(s)
	if !reported {
		c.Evidence = unknownRedundancy(s)
		return c
	}
	least, known := status.MinReplicasRemaining()
	have, desired := phrase.Count(least, "replica"), phrase.Count(need, "replica")
	switch { // a number that does not decide is not shown beside what is needed
	case !known:
		c.Need = desired
		c.Evidence = "the replication of the data is unknown"
	case least < need:
		c.Have, c.Need = have, desired
		c.Evidence = fmt.Sprintf("some data has %s, %d required", phrase.CountOf(least, need, "replica"), need)
	case !status.LogsFullyReplicated():
		c.Evidence = "a set of logs is incomplete"
	case !status.CoordinatorsReachable():
		c.Evidence = "a coordinator is not reachable"
	default:
		c.Evidence = justVanished(s)
		c.OK = c.Evidence == ""
		if c.OK {
			c.Have, c.Need = have, desired
			c.Evidence = phrase.Count(least, "replica") + " of all data, all coordinators reachable"
		}
	}
	return c
}

// justVanished names a process group that stays, or that is draining, whose processes
// stopped reporting too short a time ago for the database's numbers to show it.
func justVanished(s plan.Snapshot) string {
	for _, g := range s.Groups() {
		if why := UnnoticedLoss(s, g); why != "" {
			return why
		}
	}
	reporting := reportingCounter(s.Database.Status)
	for _, g := range s.Groups() {
		if g.IsRemovable() {
			continue // nothing depends on it any more
		}
		if why := unnoticedDeath(s, g, reporting); why != "" {
			return why
		}
	}
	return ""
}

// unnoticedDeath returns which processes of a group stopped too short a time before the status
// document was read for its numbers to show it. If the group has no condition and still does
// not report, the time is unknown: it may have been restarted by this very pass.
func unnoticedDeath(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, reporting func(*v1beta2.ProcessGroupStatus) int) string {
	if !g.ProcessClass.IsStateful() {
		return ""
	}
	since, missing := notReportingSince(s, g)
	switch {
	case missing && s.Database.AsOf.Sub(since) < fdb.DeathNoticedAfter:
		seen, _ := missingSince(g)
		return fmt.Sprintf("%s %s, which the database notices after %s", g.ProcessGroupID, stoppedReporting(s, g, seen), fdb.DeathNoticedAfter)
	case missing || g.IsRemovable():
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

// notReportingSince is since when a group has not reported without a break. The condition has
// the time of the first pass that noticed, and none may have followed, so it counts from the
// last start or end of its main container that Kubernetes reports.
func notReportingSince(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) (since time.Time, missing bool) {
	since, missing = missingSince(g)
	return unbroken(s, g, since), missing
}

// unbroken is since when a group that was seen not to report then has not reported without a break.
func unbroken(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, seen time.Time) time.Time {
	if alive := lastAlive(s.Pod(g)); alive.After(seen) {
		return alive
	}
	return seen
}

// lastAlive is when the main container of a pod last started or ended; zero when unknown. The
// monitor of the image can restart processes without a restart of the container.
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

// reportingCounter returns a function that returns how many processes of a group report, as
// reportingOf would. It reads the processes once, and not once for every group.
func reportingCounter(status *fdb.Status) func(*v1beta2.ProcessGroupStatus) int {
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

// MayHoldData reports whether a group is removed without a proof that nothing depends on it,
// as spec.processGroupsToRemoveWithoutExclusion requests.
func MayHoldData(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return g.IsMarkedForRemoval() && g.ExclusionSkipped && g.ProcessClass.IsStateful() && !NoDatabaseYet(s)
}

// UnnoticedLoss returns that a group which was removed without being drained has lost its pod,
// and that the database cannot have noticed the loss of its data yet; empty otherwise. Until
// it has, nothing else may be removed: the two could have held the only replicas of something.
func UnnoticedLoss(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	pod := s.Pod(g)
	if !MayHoldData(s, g) || (pod != nil && pod.DeletionTimestamp == nil) {
		return ""
	}
	if !g.HasCondition(v1beta2.ConditionMissingProcesses) {
		return fmt.Sprintf("%s is removed without draining and does not report, since when is unknown", g.ProcessGroupID)
	}
	return unnoticedDeath(s, g, reportingCounter(s.Database.Status))
}

// OutageSource is the evidence that dates an outage.
type OutageSource string

// The sources, from the one that shows an outage first.
const (
	// OutageOfContainer is the end of the main container, as the kubelet reports it.
	OutageOfContainer OutageSource = "container"
	// OutageOfPod is the deletion of the pod.
	OutageOfPod OutageSource = "pod"
	// OutageOfNode is the time at which the node stopped being ready.
	OutageOfNode OutageSource = "node"
	// OutageFirstSeen is the first pass that found the processes missing: the outage is older.
	OutageFirstSeen OutageSource = "first-seen"
)

// Outage is since when the processes of a process group do not report.
type Outage struct {
	// Since is zero when nothing dates the outage.
	Since time.Time
	// Source is empty when nothing does.
	Source OutageSource
}

// OutageOf dates the outage of a process group whose processes do not report. Every source notices
// an outage after it began, so the earliest time is the nearest. firstSeen is when a pass recorded
// the outage, zero while none has.
//
// It is for users, in all views alike. No decision uses it: a node that is not ready and a container
// that ended do not prove that the database has noticed, and the operator counts replacements from
// the time at which a pass first saw the condition.
func OutageOf(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, firstSeen time.Time) Outage {
	pod := s.Pod(g)
	o := Outage{}
	o.earlier(firstSeen, OutageFirstSeen)
	if pod == nil {
		return o
	}
	o.earlier(mainEnded(pod), OutageOfContainer)
	o.earlier(deletionRequested(pod), OutageOfPod)
	o.earlier(notReadySince(s.Nodes[pod.Spec.NodeName]), OutageOfNode)
	return o
}

func (o *Outage) earlier(at time.Time, source OutageSource) {
	if !at.IsZero() && (o.Since.IsZero() || at.Before(o.Since)) {
		*o = Outage{Since: at, Source: source}
	}
}

// mainEnded is when the main container ended that does not run now; zero while it runs. The last end of a
// container that crashes repeatedly began nothing: when the first was is unknown.
func mainEnded(pod *corev1.Pod) time.Time {
	for _, c := range mainContainers(pod) {
		end := cmp.Or(c.State.Terminated, c.LastTerminationState.Terminated)
		switch {
		case c.State.Running != nil:
			return time.Time{}
		case end != nil && !crashesRepeatedly(c, end):
			return end.FinishedAt.Time
		}
	}
	return time.Time{}
}

// shortestRun is how long a restarted container runs at least that does not crash repeatedly.
const shortestRun = time.Minute

// crashesRepeatedly reports whether a container that was restarted ended again after a short run.
func crashesRepeatedly(c corev1.ContainerStatus, end *corev1.ContainerStateTerminated) bool {
	return c.RestartCount > 0 && !end.StartedAt.IsZero() && end.FinishedAt.Sub(end.StartedAt.Time) < shortestRun
}

// deletionRequested is when the deletion of a pod was requested; zero for a pod that stays. The
// timestamp of Kubernetes is at the end of the grace period.
func deletionRequested(pod *corev1.Pod) time.Time {
	if pod.DeletionTimestamp == nil {
		return time.Time{}
	}
	requested := pod.DeletionTimestamp.Time
	if grace := pod.DeletionGracePeriodSeconds; grace != nil {
		requested = requested.Add(-v1beta2.Seconds(*grace))
	}
	return requested
}

func notReadySince(node *corev1.Node) time.Time {
	if node == nil {
		return time.Time{}
	}
	i := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue
	})
	if i < 0 {
		return time.Time{}
	}
	return node.Status.Conditions[i].LastTransitionTime.Time
}

// describeMissing describes a process group that a pass first saw missing at a time.
func describeMissing(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, seen time.Time) string {
	outage := OutageOf(s, g, seen).Since
	words := fmt.Sprintf("%s missing for %s", g.ProcessGroupID, s.Now.Sub(outage).Round(time.Second))
	if seen.Sub(outage) >= time.Second {
		words += fmt.Sprintf(", first seen %s ago", s.Now.Sub(seen).Round(time.Second))
	}
	return words
}

// stoppedReporting describes when a group stopped reporting that a pass first saw missing at a time. The
// database can know a process whose container ran later, so only the time since then counts.
func stoppedReporting(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, seen time.Time) string {
	ago := func(at time.Time) time.Duration { return max(0, s.Database.AsOf.Sub(at)).Round(time.Second) }
	alive := unbroken(s, g, seen)
	if !alive.After(seen) {
		return fmt.Sprintf("stopped reporting %s ago", ago(seen))
	}
	return fmt.Sprintf("has not reported for %s, and its container last started or ended %s ago", ago(seen), ago(alive))
}
