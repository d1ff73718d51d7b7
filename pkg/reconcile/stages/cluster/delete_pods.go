package cluster

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// DeletePodsForBuggification deletes pods that were created with other faults than the spec
// has now: containers that crash on purpose, and pods that cannot be scheduled. No check of
// the database is made before, since disturbing it is the purpose of the faults; losing a volume is not.
//
// The operator checks per pod whether any container crashes, and so keeps a pod whose fault
// moves from one container to another; here each container is compared.
var DeletePodsForBuggification = WithRecreation(plan.Stage{
	Name:  plan.StageDeletePodsForBuggification,
	Reads: plan.ClusterResource | plan.Pods | plan.Volumes,
	Decide: func(s plan.Snapshot) plan.Decision {
		var pods []plan.PodOfGroup
		var keep readings.VolumesGoing
		for _, g := range s.Groups() {
			if pod := readings.DeletablePod(s, g); pod != nil && readings.HasOtherFaults(s.Cluster, g, pod) && !keep.Keeps(s, g) {
				pods = append(pods, readings.ThisPod(g, pod))
			}
		}
		if len(pods) == 0 {
			return plan.Decision{Hold: keep.Hold()}
		}
		return plan.Decision{
			Why:     "created with other faults than spec.buggify has now",
			Actions: []plan.Action{plan.DeletePods{Pods: pods}},
			Hold:    &plan.Hold{Code: plan.HoldPodsRecreated, Reason: "deleted pods are recreated by the next pass", RetryAfter: plan.PodDelay, Then: plan.EndPass},
		}
	},
})

// DeleteTerminalPods deletes pods that have ended and never restart, such as evicted ones, so
// that they are recreated. No process of theirs could be lost. A pod that ends right after
// its creation is kept for a moment, or it would be created and deleted continuously.
// One whose PVC is being deleted is kept: the volume stays as long as the pod exists.
var DeleteTerminalPods = plan.Stage{
	Name:  plan.StageDeleteTerminalPods,
	Reads: plan.ClusterResource | plan.Pods | plan.Volumes,
	Decide: func(s plan.Snapshot) plan.Decision {
		var ended []plan.PodOfGroup
		var young []string
		var keep readings.VolumesGoing
		var wait time.Duration
		for _, g := range s.Groups() {
			pod := readings.DeletablePod(s, g)
			if pod == nil || !readings.HasEnded(pod) {
				continue
			}
			left := readings.MinTerminalPodAge - s.Now.Sub(pod.CreationTimestamp.Time)
			if left > 0 {
				young, wait = append(young, pod.Name), max(wait, left)
				continue
			}
			if !keep.Keeps(s, g) {
				ended = append(ended, readings.ThisPod(g, pod))
			}
		}
		var d plan.Decision
		if len(ended) > 0 {
			d.Why = "pods that have ended never restart"
			d.Actions = []plan.Action{plan.DeletePods{Pods: ended}}
		}
		if len(young) > 0 {
			d.Hold = &plan.Hold{Code: plan.HoldPodEndedEarly, Reason: fmt.Sprintf("%s ended less than %s after creation", readings.SomeOf(young), readings.MinTerminalPodAge), RetryAfter: wait}
		}
		d.Hold = keep.HoldBefore(d.Hold)
		return d
	},
}

// RemoveIncompatibleProcesses deletes pods whose processes try to join the database with
// another protocol and are refused: the restart of an upgrade did not reach them. Recreated,
// they start in the version of the spec, which can join; if that has another protocol too, an
// upgrade is in progress, and they join when all restart.
//
// The operator waits for the end of every upgrade, also between compatible versions. After an
// upgrade that was reverted to a patch version it waits forever: processes that were ahead
// cannot join, and the patch waits for them.
//
// An address in the list of such connections proves little: it may be a client beside a
// healthy process, or up to ten minutes old and used by another pod by now. So a pod is deleted
// only when it has had its address for as long as the list goes back, and none of its processes
// has reported for a while, by its process group and by its address.
var RemoveIncompatibleProcesses = WithRecreation(plan.Stage{
	Name:  plan.StageRemoveIncompatibleProcesses,
	Reads: plan.ClusterResource | plan.Pods | plan.Volumes | plan.Database,
	Decide: func(s plan.Snapshot) plan.Decision {
		document := s.Database.Status
		if !s.Cluster.Status.Configured || s.Cluster.IsBeingUpgradedIncompatibly() || document == nil || len(document.Cluster.IncompatibleConnections) == 0 {
			return plan.Decision{}
		}
		if known := reportingKnown(s.Database); !known.OK {
			return plan.Decision{Checks: []plan.Check{known}, Hold: &plan.Hold{
				Code:   plan.HoldProcessesUnknown,
				Reason: "cannot determine which processes try to join with an incompatible protocol", Detail: known.Evidence, RetryAfter: incompatibleRetry,
			}}
		}
		var pods []plan.PodOfGroup
		var waiting []string
		var keep readings.VolumesGoing
		for _, out := range incompatiblePods(s) {
			if why := mayJoinYet(s, out); why != "" {
				waiting = append(waiting, why)
			} else if !keep.Keeps(s, out.group) {
				pods = append(pods, readings.ThisPod(out.group, out.pod))
			}
		}
		var d plan.Decision
		if len(pods) > 0 {
			d.Why = "their processes use a protocol that is incompatible with the database"
			d.Actions = []plan.Action{plan.DeletePods{Pods: pods}}
		}
		if len(waiting) > 0 {
			d.Hold = &plan.Hold{Code: plan.HoldIncompatibleProcesses, RetryAfter: incompatibleRetry, Reason: readings.SomeOf(waiting)}
		}
		d.Hold = keep.HoldBefore(d.Hold)
		return d
	},
})

// incompatibleMemory is for how long the database lists a peer of another protocol after its
// last message. Default 600 s; source: FoundationDB's knob
// INCOMPATIBLE_PEERS_LOGGING_INTERVAL.
const incompatibleMemory = 10 * time.Minute

// mayJoinYet returns why the process of a pod that seems to be shut out may still join, or may
// not be the listed one; empty when neither is possible.
func mayJoinYet(s plan.Snapshot, out shutOutPod) string {
	id, grace := out.group.ProcessGroupID, s.Cluster.IgnoreMissingProcessesFor()
	since, missing := out.group.Condition(v1beta2.ConditionMissingProcesses)
	age := s.Now.Sub(out.pod.CreationTimestamp.Time)
	switch {
	case !missing || s.Now.Sub(since) < grace:
		return fmt.Sprintf("%s may be starting: not missing for %s yet", id, grace)
	case age < incompatibleMemory:
		return fmt.Sprintf("the pod of %s is %s old; its address may be listed for a former pod, since the database keeps addresses for %s", id, age.Round(time.Second), incompatibleMemory)
	default:
		return ""
	}
}

// incompatibleRetry is when to check again. Source: the operator waits as long.
const incompatibleRetry = 15 * time.Second

// reportingKnown checks whether a process that the document lacks is proven not to report.
func reportingKnown(d plan.DatabaseFacts) plan.Check {
	available := safety.Available(d)
	unnamed := slices.ContainsFunc(d.Status.ProcessList(), func(p fdb.Process) bool { return !p.Reporting() })
	if !available.OK { // an incomplete document is no proof of availability either
		return available
	}
	return plan.Check{ID: plan.CheckProcessesNamed, Question: "does every listed process report what it is?", OK: !unnamed, Evidence: "some of the listed processes have not reported it yet"}
}

// shutOutPod is a pod whose process seems to be shut out, and its group.
type shutOutPod struct {
	group *v1beta2.ProcessGroupStatus
	pod   *corev1.Pod
}

// incompatiblePods returns the running pods with an address among the incompatible connections of which
// no process reports, under their group's ID or from that address. Former addresses of a group
// prove nothing about its pod: other pods have them by now.
func incompatiblePods(s plan.Snapshot) []shutOutPod {
	refused := map[string]bool{}
	for _, text := range s.Database.Status.Cluster.IncompatibleConnections {
		if address, err := fdb.ParseAddress(text); err == nil {
			refused[address.Host] = true
		}
	}
	reporting := safety.ServerMachines(s.Database.Status)
	var out []shutOutPod
	for _, g := range s.Groups() {
		pod := readings.DeletablePod(s, g)
		if pod == nil || pod.Status.Phase != corev1.PodRunning || g.HasCondition(v1beta2.ConditionMissingPod) {
			continue
		}
		addresses, err := objects.PublicIPs(pod)
		if err != nil {
			continue // unknown which of its addresses its processes use; UpdateStatus reports that
		}
		joined := len(s.Database.Status.ProcessesOf(string(g.ProcessGroupID))) > 0
		joined = joined || slices.ContainsFunc(addresses, func(ip string) bool { return reporting[ip] })
		if !joined && slices.ContainsFunc(addresses, func(ip string) bool { return refused[ip] }) {
			out = append(out, shutOutPod{g, pod})
		}
	}
	return out
}
