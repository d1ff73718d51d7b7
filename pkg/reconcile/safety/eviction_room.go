package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// coordinatorsCanMove checks whether a group is no coordinator, or enough fault domains remain
// for others: the coordinators of a group that is marked for removal are moved before anything
// else of it.
func coordinatorsCanMove(p Pod) plan.Check {
	if c := noCoordinator(p); c.OK || noAnswer(p.Database) != "" || !Coordinates(p.Snapshot, p.Group) {
		return c
	}
	c := plan.Check{ID: plan.CheckCoordinatorsCanMove, Subject: string(p.Group.ProcessGroupID), Question: fmt.Sprintf("can the coordinators move away from %s?", p.Group.ProcessGroupID), Gate: plan.GateCoord}
	if !p.Database.Status.CoordinatorsReachable() {
		c.Evidence = "not all coordinators are reachable"
		return c
	}
	// While fewer are placed than desired, the current number must be placed.
	zones, need := zonesForCoordinators(p), min(p.Cluster.DesiredCoordinators(), len(p.Database.Status.Coordinators()))
	c.OK = zones >= need
	c.Evidence = fmt.Sprintf("%s with eligible processes, %d required", phrase.Count(zones, "fault domain"), need)
	return c
}

// zonesForCoordinators counts the fault domains with an eligible process that remains and is
// not the group's.
func zonesForCoordinators(p Pod) int {
	zones := map[string]bool{}
	for _, process := range p.Database.Status.ProcessList() {
		_, eligible := p.Cluster.CoordinatorPriority(v1beta2.ProcessClass(process.ClassType))
		if !eligible || !process.Reporting() || process.IsExcluded() || process.IsUnderMaintenance() ||
			process.InstanceID() == string(p.Group.ProcessGroupID) || markedForRemoval(p.Snapshot, process.InstanceID()) {
			continue
		}
		zones[process.Zone()] = true
	}
	return len(zones)
}

// spareDisk is the part of the others' disks that must remain free after they received a
// group's data: FoundationDB slows down when disks get full. Default a tenth; source: our own
// judgment.
const spareDisk = 0.1

// spaceElsewhere checks whether the other storage processes have space for the data of a group.
func spaceElsewhere(p Pod) plan.Check {
	c := plan.Check{ID: plan.CheckDataHasRoom, Subject: string(p.Group.ProcessGroupID), Question: fmt.Sprintf("do other processes have space for the data of %s?", p.Group.ProcessGroupID), Gate: plan.GateBudget}
	if c.Evidence = noAnswer(p.Database); c.Evidence != "" {
		return c
	}
	room, unknown := roomBeside(p)
	if unknown != "" {
		c.Evidence = unknown
		return c
	}
	left := room.free - room.data
	c.OK = room.total > 0 && float64(left) >= spareDisk*float64(room.total)
	c.Evidence = fmt.Sprintf("%s of data to move; others have %s free of %s, %.0f%% must remain free", inGiB(room.data), inGiB(room.free), inGiB(room.total), 100*spareDisk)
	return c
}

// room is the size of a group's data and of the disks of all other storage groups, in
// bytes.
type room struct{ data, free, total int64 }

// roomBeside adds up what storage processes report. The processes of one group share a disk,
// which counts once. A group without a reporting process has nothing to move: its data is
// copied from other replicas. Unknown is what a storage process does not report; empty where the
// sum is known.
func roomBeside(p Pod) (r room, unknown string) {
	disks := map[string]room{}
	for _, process := range p.Database.Status.ProcessList() {
		for _, role := range process.Roles {
			if role.Role != fdb.RoleStorage {
				continue
			}
			if role.KVStoreUsedBytes == nil || role.KVStoreAvailableBytes == nil || role.KVStoreTotalBytes == nil {
				return room{}, "a storage process does not report its disk space"
			}
			if process.InstanceID() == "" {
				return room{}, "a storage process does not report its process group"
			}
			if process.InstanceID() == string(p.Group.ProcessGroupID) {
				r.data += *role.KVStoreUsedBytes
				continue
			}
			if !process.IsExcluded() {
				disks[process.InstanceID()] = room{free: *role.KVStoreAvailableBytes, total: *role.KVStoreTotalBytes}
			}
		}
	}
	for _, disk := range disks {
		r.free, r.total = r.free+disk.free, r.total+disk.total
	}
	return r, ""
}

func inGiB(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
