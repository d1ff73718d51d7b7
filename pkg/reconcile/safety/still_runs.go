package safety

import (
	"cmp"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// StillRuns says where a server of a process group runs that has no pod any more, and what
// to do about it; empty when the database sees none. Kubernetes forgets a pod that is
// deleted by force, and one of a node that was taken out of it, and ends nothing there: with
// a kubelet that is dead and a network that is not, the server goes on. Once its exclusion
// ended it would be given data again, over a volume that nobody claims any more.
//
// Testers keep nothing, are never excluded, and stay listed for long after they have ended.
func StillRuns(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	status := s.Database.Status
	switch {
	case status == nil, g.ProcessClass.IsTester():
		return ""
	case status.Incomplete():
		return fmt.Sprintf("whether a server of %s still runs cannot be told: the collection of the status document timed out", g.ProcessGroupID)
	}
	processes := processesOf(status, g)
	if len(processes) == 0 {
		return ""
	}
	p := processes[0]
	return fmt.Sprintf("the objects of %s are gone, and its server still runs at %s on %s; end it there, for instance by a restart of the machine",
		g.ProcessGroupID, p.Address.HostPort(), orUnknown(cmp.Or(p.Locality[fdb.LocalityMachineID], p.Zone())))
}
