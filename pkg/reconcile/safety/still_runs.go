package safety

import (
	"cmp"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// StillRuns names a process that a process group without a pod may still have, and how to end
// it where that is known; empty when the database has none. Kubernetes removes the pod object
// of a forced deletion, and those of a deleted node, without ending anything there: with a
// dead kubelet and a working network, the process continues to run. After the end of its
// exclusion it would receive data again, on a volume that is no longer claimed. A process of
// unknown identity keeps the exclusion in force as well, without advice.
//
// Testers hold no data, are never excluded, and are listed for long after they have ended.
func StillRuns(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	switch {
	case s.Database.Status == nil, g.ProcessClass.IsTester():
		return ""
	case s.Database.Status.Incomplete():
		return fmt.Sprintf("cannot determine whether a process of %s still runs: %s", g.ProcessGroupID, incompleteDocument)
	}
	processes := processesOf(s, g)
	if len(processes) == 0 {
		return ""
	}
	return stillRunning(g, processes[len(processes)-1]) // those of unknown identity come first
}

// stillRunning advises only about a process that is the group's, on a known machine.
func stillRunning(g *v1beta2.ProcessGroupStatus, p fdb.Process) string {
	machine := cmp.Or(p.Locality[fdb.LocalityMachineID], p.Zone())
	switch {
	case p.InstanceID() == "":
		return fmt.Sprintf("the objects of %[1]s are deleted, and it is unknown whether its process still runs: the process at %[2]s does not report its process group yet; the exclusion stays until it does or ends",
			g.ProcessGroupID, p.Address.HostPort())
	case machine == "":
		return fmt.Sprintf("the objects of %s are deleted, and its process still runs at %s, on an unknown machine; the exclusion stays until it ends", g.ProcessGroupID, p.Address.HostPort())
	default:
		return fmt.Sprintf("the objects of %s are deleted, and its process still runs at %s on %s; end it there, for example by a restart of the machine",
			g.ProcessGroupID, p.Address.HostPort(), machine)
	}
}
