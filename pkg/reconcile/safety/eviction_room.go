package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// coordinatorsCanMove asks whether a group is no coordinator, or enough fault domains are
// left for others: a group that is marked for removal loses its coordinators before
// anything else.
func coordinatorsCanMove(p Pod) plan.Check {
	if c := noCoordinator(p); c.OK || p.Database.Status == nil || !Coordinates(p.Snapshot, p.Group) {
		return c
	}
	c := plan.Check{ID: plan.CheckCoordinatorsCanMove, Subject: string(p.Group.ProcessGroupID), Question: fmt.Sprintf("can the coordinators move away from %s?", p.Group.ProcessGroupID), Gate: plan.GateCoord}
	if !p.Database.Status.CoordinatorsReachable() {
		c.Evidence = "not all coordinators answer now"
		return c
	}
	// While fewer are placed than the spec wants, as many as now have to find a place.
	zones, need := zonesForCoordinators(p), min(p.Cluster.DesiredCoordinators(), len(p.Database.Status.Coordinators()))
	c.OK = zones >= need
	c.Evidence = fmt.Sprintf("%s with other processes that may be coordinators, %d required", phrase.Count(zones, "fault domain"), need)
	return c
}

// zonesForCoordinators counts the fault domains with a process that can be a coordinator,
// stays, and is not the group's.
func zonesForCoordinators(p Pod) int {
	zones := map[string]bool{}
	for _, process := range p.Database.Status.ProcessList() {
		_, eligible := p.Cluster.CoordinatorPriority(v1beta2.ProcessClass(process.ClassType))
		if !eligible || !process.Reporting() || process.IsExcluded() || process.IsUnderMaintenance() ||
			process.InstanceID() == string(p.Group.ProcessGroupID) || leaving(p.Snapshot, process.InstanceID()) {
			continue
		}
		zones[process.Zone()] = true
	}
	return len(zones)
}

// spareDisk is the part of the others' disks that has to stay free when they have taken a
// group's data over: FoundationDB slows down when disks get full. Default a tenth; source:
// our own judgement.
const spareDisk = 0.1

// spaceElsewhere asks whether the other storage servers have room for what a group holds.
func spaceElsewhere(p Pod) plan.Check {
	c := plan.Check{ID: plan.CheckDataHasRoom, Subject: string(p.Group.ProcessGroupID), Question: fmt.Sprintf("have others space for the data of %s?", p.Group.ProcessGroupID), Gate: plan.GateBudget}
	if p.Database.Status == nil {
		c.Evidence = p.Database.Why()
		return c
	}
	room, known := roomBeside(p)
	if !known {
		c.Evidence = "a storage server does not tell how much space it has"
		return c
	}
	left := room.free - room.data
	c.OK = room.total > 0 && float64(left) >= spareDisk*float64(room.total)
	c.Evidence = fmt.Sprintf("%s of data to move; the others have %s free of %s, of which %.0f%% stay free", inGiB(room.data), inGiB(room.free), inGiB(room.total), 100*spareDisk)
	return c
}

// room is what a group's data needs and the disks of all other storage groups have, in
// bytes.
type room struct{ data, free, total int64 }

// roomBeside adds up what storage servers report. The servers of one group share a disk,
// which counts once. A group of which nothing reports has, for all anybody knows, nothing
// to move: its data is moved from its copies.
func roomBeside(p Pod) (r room, known bool) {
	disks := map[string]room{}
	for _, process := range p.Database.Status.ProcessList() {
		for _, role := range process.Roles {
			if role.Role != fdb.RoleStorage {
				continue
			}
			if role.KVStoreUsedBytes == nil || role.KVStoreAvailableBytes == nil || role.KVStoreTotalBytes == nil {
				return room{}, false
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
	return r, true
}

func inGiB(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
