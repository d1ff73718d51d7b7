package stages

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// outdatedPods are the running pods that have to be made anew, in the order of the
// record. A pod that does not tell its fault domain stays out: nobody could say what
// goes down with it. So does one whose group is to be replaced, or about which nobody can
// tell that: it waits for its turn with the pod that it has.
//
// Of those that have the spec that is wanted, it says whose servers do not report.
func outdatedPods(s plan.Snapshot, o Options) (outdated []outdatedPod, silent []string, err error) {
	hashes := objects.NewSpecHashes(s.Cluster)
	inspect := sync.OnceValue(func() inspection { return newInspection(s, o) }) // for few passes only
	servers := reportingServers(s.Database.Status)
	for _, g := range s.Staying() {
		pod := s.Pod(g)
		if pod == nil || pod.DeletionTimestamp != nil || s.Cluster.ReplacesPodsOf(g.ProcessClass) || pendingTooLong(s, g) {
			continue
		}
		want, err := hashes.Of(g)
		if err != nil {
			return nil, nil, err
		}
		current := pod.Annotations[v1beta2.AnnotationLastAppliedSpec] == want
		if current && g.ProcessClass.IsStateful() && servers.misses(g, pod) {
			silent = append(silent, string(g.ProcessGroupID))
		}
		zone, known := zoneOf(s.Cluster, s.PodFiles[pod.Name].Variables)
		if current || !known {
			continue
		}
		if reason, err := inspect().group(g); reason != "" || err != nil {
			continue // ReplaceMisconfiguredPods says why
		}
		outdated = append(outdated, outdatedPod{
			PodOfGroup: plan.PodOfGroup{Group: g.ProcessGroupID, Name: pod.Name, UID: pod.UID}, class: g.ProcessClass, zone: zone, silent: servers.misses(g, pod),
		})
	}
	return outdated, silent, nil
}

// serverCount says how many servers of each process group report. It is nil without a
// complete status document: then nobody is known to be silent, and nothing goes down anyway.
type serverCount map[string]int

func reportingServers(status *fdb.Status) serverCount {
	if status == nil || status.Incomplete() {
		return nil
	}
	count := serverCount{}
	for _, p := range status.Cluster.Processes {
		if p.Reporting() {
			count[p.InstanceID()]++
		}
	}
	return count
}

// misses reports whether fewer of a pod's servers report than it runs.
func (c serverCount) misses(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) bool {
	if c == nil {
		return false
	}
	servers, err := objects.ServersPerPodOf(pod, g.ProcessClass)
	return err != nil || c[string(g.ProcessGroupID)] < servers
}

// processesByGroup are the processes of each group, in the order of the list. It is nil
// without a status document.
func processesByGroup(status *fdb.Status) map[string][]fdb.Process {
	if status == nil {
		return nil
	}
	byGroup := map[string][]fdb.Process{}
	for _, p := range status.ProcessList() {
		byGroup[p.InstanceID()] = append(byGroup[p.InstanceID()], p)
	}
	return byGroup
}

// pendingTooLong reports whether a pod cannot start, so that nobody waits for it.
func pendingTooLong(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	since, pending := g.Condition(v1beta2.ConditionPodPending)
	return pending && s.Now.Sub(since) > s.Cluster.IgnorePendingPodsFor()
}

// How long a pod that vanished may still look alive to the database, and for how long a
// new pod's processes may be taken for those of the pod before it.
const (
	podVanishedFor = 90 * time.Second
	podYoungFor    = time.Minute
)

// unsettledPods says which pods of stateful process groups are on their way up or down.
// Groups that leave count until they are drained: their data is still on them.
// The database shows a dead storage process after a minute only, so a second fault
// domain could go down while everything still looks complete.
func unsettledPods(s plan.Snapshot) []string {
	var reasons []string
	processes := processesByGroup(s.Database.Status)
	for _, g := range s.Groups() {
		if g.IsGone() || !g.ProcessClass.IsStateful() || pendingTooLong(s, g) {
			continue
		}
		if why := unsettled(s, g, s.Pod(g), processes[string(g.ProcessGroupID)]); why != "" {
			reasons = append(reasons, fmt.Sprintf("%s %s", g.ProcessGroupID, why))
		}
	}
	return reasons
}

func unsettled(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod, processes []fdb.Process) string {
	switch {
	case pod == nil:
		since, known := g.Condition(v1beta2.ConditionMissingPod)
		if !known || s.Now.Sub(since) < podVanishedFor {
			return "has lost its pod a moment ago"
		}
		return ""
	case pod.DeletionTimestamp != nil:
		if s.Now.Sub(pod.DeletionTimestamp.Time) < s.Cluster.IgnoreTerminatingPodsFor() {
			return "has a pod that is terminating"
		}
		return ""
	case g.HasCondition(v1beta2.ConditionMissingPod):
		return "has a pod that was made in this very pass" // whatever this machine's clock says
	case s.Now.Sub(pod.CreationTimestamp.Time) < podYoungFor:
		return cmp.Or(elsewhereThan(pod, processes), notYetBack(s, g, pod, processes))
	default:
		return elsewhereThan(pod, processes)
	}
}

// elsewhereThan says that a process reports from an address that its pod does not have:
// it is that of the pod before, whatever the clocks say.
func elsewhereThan(pod *corev1.Pod, processes []fdb.Process) string {
	ips, err := objects.PublicIPs(pod)
	if err != nil {
		return "" // a pod that does not tell its addresses is judged by its age alone
	}
	for _, p := range processes {
		if !p.Address.IsZero() && !slices.ContainsFunc(ips, func(ip string) bool { return fdb.SameHost(ip, p.Address.Host) }) {
			return fmt.Sprintf("has a process at %s, which its pod does not have: the status document is stale", p.Address.Host)
		}
	}
	return ""
}

// notYetBack says that a new pod's processes do not report yet. A process that is older
// than its pod is that of the pod before: the status document is stale.
func notYetBack(s plan.Snapshot, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod, processes []fdb.Process) string {
	if s.Database.Status == nil {
		return "has a new pod, and the database does not tell of its processes"
	}
	reporting := slices.DeleteFunc(slices.Clone(processes), func(p fdb.Process) bool { return !p.Reporting() })
	if (serverCount{string(g.ProcessGroupID): len(reporting)}).misses(g, pod) {
		return "has a new pod whose processes do not report yet"
	}
	age := s.Now.Sub(pod.CreationTimestamp.Time)
	for _, p := range reporting {
		if uptime, known := p.Uptime(); known && uptime > age {
			return fmt.Sprintf("has a process that is older (%s) than its pod (%s): the status document is stale, or this machine's clock is wrong",
				uptime.Round(time.Second), age.Round(time.Second))
		}
	}
	return ""
}

// zonesWithUnavailablePods are the fault domains of stateful process groups that cannot
// be relied on now.
func zonesWithUnavailablePods(s plan.Snapshot) []string {
	var zones []string
	for _, g := range s.Staying() {
		if !g.ProcessClass.IsStateful() || g.FaultDomain == "" || slices.Contains(zones, string(g.FaultDomain)) {
			continue
		}
		if unavailable(s, g) {
			zones = append(zones, string(g.FaultDomain))
		}
	}
	slices.Sort(zones)
	return zones
}

func unavailable(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	pod := s.Pod(g)
	return pod == nil || pod.DeletionTimestamp != nil ||
		g.HasCondition(v1beta2.ConditionPodPending) || g.HasCondition(v1beta2.ConditionMissingProcesses) || g.HasCondition(v1beta2.ConditionPodFailing)
}
