package safety

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
