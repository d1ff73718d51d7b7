package safety

import (
	"cmp"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// StillRuns names a process that a process group without a pod may still have, and what to
// do about it where that is known; empty when the database has none. Kubernetes forgets a
// pod that is deleted by force, and one of a node that was taken out of it, and ends nothing
// there: with a kubelet that is dead and a network that is not, the process continues to
// run. After the end of its exclusion it would receive data again, over a volume that is no
// longer claimed. A process of unknown identity holds the exclusion as well, without advice.
//
// Testers keep nothing, are never excluded, and stay listed for long after they have ended.
func StillRuns(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	status := s.Database.Status
	switch {
	case status == nil, g.ProcessClass.IsTester():
		return ""
	case status.Incomplete():
		return fmt.Sprintf("whether a server of %s still runs cannot be told: the status document is incomplete", g.ProcessGroupID)
	}
	processes := processesOf(s, g)
	if len(processes) == 0 {
		return ""
	}
	return stillRunning(g, processes[len(processes)-1]) // those of unknown identity come first
}

// stillRunning gives advice only about a process that is the group's, on a known machine.
func stillRunning(g *v1beta2.ProcessGroupStatus, p fdb.Process) string {
	machine := cmp.Or(p.Locality[fdb.LocalityMachineID], p.Zone())
	switch {
	case p.InstanceID() == "":
		return fmt.Sprintf("the objects of %[1]s are gone, and whether a process of %[1]s still runs is unknown: the process at %[2]s does not report its process group yet; the exclusion stays until it does or ends",
			g.ProcessGroupID, p.Address.HostPort())
	case machine == "":
		return fmt.Sprintf("the objects of %s are gone, and its process still runs at %s, on an unknown machine; the exclusion stays until it ends", g.ProcessGroupID, p.Address.HostPort())
	default:
		return fmt.Sprintf("the objects of %s are gone, and its server still runs at %s on %s; end it there, for instance by a restart of the machine",
			g.ProcessGroupID, p.Address.HostPort(), machine)
	}
}
