package stages

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
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
// healthy server, or one of a moment ago. So a pod goes only when none of its servers
// has reported for a while, by its process group and by its address.
var removeIncompatibleProcesses = plan.Stage{
	Name:  "RemoveIncompatibleProcesses",
	Reads: plan.Record | plan.Pods | plan.Database,
	Decide: func(s plan.Snapshot) plan.Decision {
		document := s.Database.Status
		if !s.Cluster.Status.Configured || s.Cluster.IsBeingUpgradedIncompatibly() || document == nil || len(document.Cluster.IncompatibleConnections) == 0 {
			return plan.Decision{}
		}
		if known := whoReportsIsKnown(s.Database); !known.OK {
			return plan.Decision{Checks: []plan.Check{known}, Hold: &plan.Hold{
				Reason: "servers of another protocol try to join; whose they are cannot be told: " + known.Evidence, RetryAfter: incompatibleRetry,
			}}
		}
		var pods []plan.PodOfGroup
		var young []string
		for _, g := range shutOut(s) {
			if pod := deletablePod(s, g); pod == nil {
				continue
			} else if since, silent := g.Condition(v1beta2.ConditionMissingProcesses); silent && s.Now.Sub(since) >= s.Cluster.IgnoreMissingProcessesFor() {
				pods = append(pods, thisPod(g, pod))
			} else {
				young = append(young, string(g.ProcessGroupID))
			}
		}
		var d plan.Decision
		if len(pods) > 0 {
			d.Why = "their servers speak a protocol that the database does not"
			d.Actions = []plan.Action{plan.DeletePods{Pods: pods}}
		}
		if len(young) > 0 {
			d.Hold = &plan.Hold{RetryAfter: incompatibleRetry, Reason: fmt.Sprintf(
				"%s may be starting: not silent for %s yet", someOf(young), s.Cluster.IgnoreMissingProcessesFor())}
		}
		return d
	},
}

// incompatibleRetry is when to look again. Source: the operator waits as long.
const incompatibleRetry = 15 * time.Second

// whoReportsIsKnown asks whether a server that the document lacks is really silent.
func whoReportsIsKnown(d plan.DatabaseFacts) plan.Check {
	available := safety.Available(d)
	complete := plan.Check{Question: "is the status document complete?", OK: !d.Status.Incomplete(), Evidence: "its collection timed out"}
	partial := slices.ContainsFunc(d.Status.ProcessList(), func(p fdb.Process) bool { return !p.Reporting() })
	switch {
	case !available.OK:
		return available
	case !complete.OK:
		return complete
	default:
		return plan.Check{Question: "does every listed process say what it is?", OK: !partial, Evidence: "some of the listed processes have not said yet what they are"}
	}
}

// shutOut are the groups with an address among the incompatible connections of which no
// process reports, under their ID or from their addresses.
func shutOut(s plan.Snapshot) []*v1beta2.ProcessGroupStatus {
	knocking := map[string]bool{}
	for _, text := range s.Database.Status.Cluster.IncompatibleConnections {
		if address, err := fdb.ParseAddress(text); err == nil {
			knocking[address.Host] = true
		}
	}
	reporting := safety.ServerMachines(s.Database.Status)
	var groups []*v1beta2.ProcessGroupStatus
	for _, g := range s.Groups() {
		joined := len(s.Database.Status.ProcessesOf(string(g.ProcessGroupID))) > 0
		joined = joined || slices.ContainsFunc(g.Addresses, func(ip string) bool { return reporting[ip] })
		if !joined && slices.ContainsFunc(g.Addresses, func(ip string) bool { return knocking[ip] }) {
			groups = append(groups, g)
		}
	}
	return groups
}
