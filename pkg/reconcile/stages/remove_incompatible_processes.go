package stages

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// removeIncompatibleProcesses deletes pods whose servers knock at the database in another
// protocol and are let in no more: the restart of an upgrade did not reach them. Made
// anew they come up in the version that the spec wants, which is let in; while that speaks
// another protocol too, an upgrade is going on, and they join when all restart.
//
// The operator waits for the end of every upgrade, also of one between versions that
// understand each other. After an upgrade that was taken back for a patch version it waits
// for ever: servers that were ahead stay outside, and the patch waits for them.
//
// An address in the list of such connections says little: it may be a client beside a
// healthy server, or one of up to ten minutes ago, which another pod has by now. So a pod
// goes only when it has had its address for as long as the list goes back, and none of its
// servers has reported for a while, by its process group and by its address.
var removeIncompatibleProcesses = plan.Stage{
	Name:  plan.StageRemoveIncompatibleProcesses,
	Reads: plan.Record | plan.Pods | plan.Database,
	Decide: func(s plan.Snapshot) plan.Decision {
		document := s.Database.Status
		if !s.Cluster.Status.Configured || s.Cluster.IsBeingUpgradedIncompatibly() || document == nil || len(document.Cluster.IncompatibleConnections) == 0 {
			return plan.Decision{}
		}
		if known := whoReportsIsKnown(s.Database); !known.OK {
			return plan.Decision{Checks: []plan.Check{known}, Hold: &plan.Hold{
				Code:   plan.HoldProcessesUnknown,
				Reason: "servers of another protocol try to join; whose they are cannot be told", Detail: known.Evidence, RetryAfter: incompatibleRetry,
			}}
		}
		var pods []plan.PodOfGroup
		var waiting []string
		for _, out := range shutOut(s) {
			if why := mayJoinYet(s, out); why != "" {
				waiting = append(waiting, why)
			} else {
				pods = append(pods, thisPod(out.group, out.pod))
			}
		}
		var d plan.Decision
		if len(pods) > 0 {
			d.Why = "their servers speak a protocol that the database does not"
			d.Actions = []plan.Action{plan.DeletePods{Pods: pods}}
		}
		if len(waiting) > 0 {
			d.Hold = &plan.Hold{Code: plan.HoldIncompatibleProcesses, RetryAfter: incompatibleRetry, Reason: someOf(waiting)}
		}
		return d
	},
}

// incompatibleMemory is for how long the database lists a peer of another protocol after it
// was last heard of. Default 600 s; source: FoundationDB's knob
// INCOMPATIBLE_PEERS_LOGGING_INTERVAL.
const incompatibleMemory = 10 * time.Minute

// mayJoinYet says why the server of a pod that seems to be shut out may still join, or may
// not be the one that is listed; empty when neither can be.
func mayJoinYet(s plan.Snapshot, out shutOutPod) string {
	id, patience := out.group.ProcessGroupID, s.Cluster.IgnoreMissingProcessesFor()
	since, silent := out.group.Condition(v1beta2.ConditionMissingProcesses)
	age := s.Now.Sub(out.pod.CreationTimestamp.Time)
	switch {
	case !silent || s.Now.Sub(since) < patience:
		return fmt.Sprintf("%s may be starting: not silent for %s yet", id, patience)
	case age < incompatibleMemory:
		return fmt.Sprintf("the pod of %s is %s old; its address may be listed for another, whom the database remembers for %s", id, age.Round(time.Second), incompatibleMemory)
	default:
		return ""
	}
}

// incompatibleRetry is when to look again. Source: the operator waits as long.
const incompatibleRetry = 15 * time.Second

// whoReportsIsKnown asks whether a server that the document lacks is really silent.
func whoReportsIsKnown(d plan.DatabaseFacts) plan.Check {
	available := safety.Available(d)
	unnamed := slices.ContainsFunc(d.Status.ProcessList(), func(p fdb.Process) bool { return !p.Reporting() })
	if !available.OK { // an incomplete document is no proof of availability either
		return available
	}
	return plan.Check{ID: plan.CheckProcessesNamed, Question: "does every listed process say what it is?", OK: !unnamed, Evidence: "some of the listed processes have not said yet what they are"}
}

// shutOutPod is a pod whose server seems to be shut out, and its group.
type shutOutPod struct {
	group *v1beta2.ProcessGroupStatus
	pod   *corev1.Pod
}

// shutOut are the running pods with an address among the incompatible connections of which
// no process reports, under their group's ID or from that address. Addresses that a group
// had before say nothing about its pod: others have them by now.
func shutOut(s plan.Snapshot) []shutOutPod {
	knocking := map[string]bool{}
	for _, text := range s.Database.Status.Cluster.IncompatibleConnections {
		if address, err := fdb.ParseAddress(text); err == nil {
			knocking[address.Host] = true
		}
	}
	reporting := safety.ServerMachines(s.Database.Status)
	var out []shutOutPod
	for _, g := range s.Groups() {
		pod := deletablePod(s, g)
		if pod == nil || pod.Status.Phase != corev1.PodRunning || g.HasCondition(v1beta2.ConditionMissingPod) {
			continue
		}
		addresses, err := objects.PublicIPs(pod)
		if err != nil {
			continue // which of its addresses is its servers' nobody can tell; UpdateStatus says so
		}
		joined := len(s.Database.Status.ProcessesOf(string(g.ProcessGroupID))) > 0
		joined = joined || slices.ContainsFunc(addresses, func(ip string) bool { return reporting[ip] })
		if !joined && slices.ContainsFunc(addresses, func(ip string) bool { return knocking[ip] }) {
			out = append(out, shutOutPod{g, pod})
		}
	}
	return out
}
