package safety

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The questions of the eviction rules, under their names in the rules.
var (
	recent              = When("the facts are fresh", func(p Pod) plan.Check { return RecentProof(p.Snapshot) })
	available           = When("the database is available", func(p Pod) plan.Check { return Available(p.Database) })
	recoveredAWhile     = When("the last recovery was at least 2 min ago", func(p Pod) plan.Check { return RecoveredFor(p.Database, betweenRecoveries) })
	drained             = When("drained", func(p Pod) plan.Check { return Drained(p.Snapshot, p.Group) })
	fullyTolerant       = When("the database is fully fault tolerant", func(p Pod) plan.Check { return FullFaultTolerance(p.Snapshot) })
	holdsNoData         = When("it has no role with data", func(p Pod) plan.Check { return withoutRoles(p, fdb.RoleStorage, fdb.RoleLog) })
	holdsNoLog          = When("it is no log", func(p Pod) plan.Check { return withoutRoles(p, fdb.RoleLog) })
	keepsVolume         = When("it keeps its volume", volumeStays)
	otherZonesUp        = When("all other fault domains are up", othersUp)
	otherZonesSettled   = When("their storage and log processes have been up for 90 s", othersSettled)
	noOtherMaintenance  = When("no other zone is under maintenance", noMaintenanceElsewhere)
	spare               = When("enough others of its class are up", spareOf)
	spaceForData        = When("the others have space for its data", spaceElsewhere)
	throughDrain        = When("it is drained before its removal", drainsFirst)
	notCoordinating     = When("the coordinators have moved away", noCoordinator)
	coordinationCanMove = When("the coordinators can move away", coordinatorsCanMove)
)

// betweenRecoveries is the required age of the last recovery before the eviction of a pod
// whose roles are recruited again, which causes the next one. As before exclusions.
const betweenRecoveries = 2 * time.Minute

// withoutRoles checks whether none of a group's processes has one of the roles: FoundationDB
// recruits roles on other classes when nothing better is left. A fully recovered database
// needs no log that does not report.
func withoutRoles(p Pod, roles ...string) plan.Check {
	c := plan.Check{ID: plan.CheckNoData, Subject: string(p.Group.ProcessGroupID), Question: fmt.Sprintf("does %s hold no data?", p.Group.ProcessGroupID), Gate: plan.GateExcluded}
	status := p.Database.Status
	switch {
	case status == nil:
		c.Evidence = noStatus(p.Database)
	case !status.RolesKnown() || !status.FullyRecovered():
		c.Evidence = "the roles of its processes are unknown now"
	default:
		c.Evidence = roleOn(p, roles)
		c.OK = c.Evidence == ""
		if c.OK {
			c.Evidence = "none of its processes holds data"
		}
	}
	return c
}

func roleOn(p Pod, roles []string) string {
	for _, process := range processesOf(p.Snapshot, p.Group) {
		if !process.Reporting() { // its roles follow once it does
			return whose(process) + " does not report yet"
		}
		for _, role := range roles {
			if process.HasRole(role) {
				return whose(process) + " has the role " + role
			}
		}
	}
	return ""
}

// volumeStays checks whether the recreated pod has the same data.
func volumeStays(p Pod) plan.Check {
	c := VolumeStays(p.Snapshot, p.Group)
	if c.OK && p.Group.IsMarkedForRemoval() {
		c.OK, c.Evidence = false, "the process group is marked for removal, and its pod is not recreated"
	}
	return c
}

// OthersUp checks whether all processes with data or coordination in other fault domains than
// a group's are up.
func OthersUp(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	return othersUp(Pod{Snapshot: s, Group: g})
}

// othersUp checks whether all processes with data or coordination in other fault domains are
// up. A group with an unknown fault domain is in another one.
func othersUp(p Pod) plan.Check {
	c := plan.Check{ID: plan.CheckOtherDomainsUp, Question: "are all other fault domains up?", Gate: plan.GateReplicas}
	if c.Evidence = noAnswer(p.Database); c.Evidence != "" {
		return c
	}
	for _, other := range p.Groups() {
		if other.IsRemovable() || !other.ProcessClass.IsStateful() || (other.FaultDomain != "" && other.FaultDomain == p.Group.FaultDomain) || other == p.Group {
			continue
		}
		if why := notUp(p.Snapshot, other); why != "" {
			c.Evidence = fmt.Sprintf("%s in fault domain %s %s", other.ProcessGroupID, phrase.Or(string(other.FaultDomain), phrase.Unknown), why)
			return c
		}
	}
	c.OK, c.Evidence = true, "all process groups with data in other fault domains have their pods and report"
	return c
}

func notUp(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	pod := s.Pod(g)
	switch {
	case pod == nil:
		return "has no pod"
	case pod.DeletionTimestamp != nil:
		return "has a terminating pod"
	case len(reportingOf(s, g)) < serversOf(s, g):
		return "has processes that do not report"
	default:
		return ""
	}
}

// othersSettled checks whether every process that keeps data in another fault domain has been
// up for fdb.DeathNoticedAfter.
func othersSettled(p Pod) plan.Check {
	c, _ := JustStarted(p.Snapshot).Elsewhere(string(p.Group.FaultDomain))
	return c
}

func noMaintenanceElsewhere(p Pod) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is no other zone under maintenance?", Gate: plan.GateMaintain}
	if c.Evidence = noAnswer(p.Database); c.Evidence != "" {
		return c
	}
	now, known := p.Database.Status.Maintenance()
	if !known {
		c.Evidence = maintenanceNotReported
		return c
	}
	zone := now.Zone
	c.OK = zone == "" || zone == string(p.Group.FaultDomain)
	c.Evidence = "no zone is under maintenance"
	if zone != "" {
		c.Evidence = fmt.Sprintf("zone %s is under maintenance, and the process group is in %s", zone, phrase.Or(string(p.Group.FaultDomain), phrase.Unknown))
	}
	return c
}

// spareOf checks the exclusion budget; groups of the class that are draining count. A group
// that is already excluded does not count.
func spareOf(p Pod) plan.Check {
	if Excluded(p.Snapshot, p.Group) {
		return plan.Check{
			ID: plan.CheckExclusionBudget, Subject: string(p.Group.ProcessClass),
			Question: fmt.Sprintf("are enough %s processes up to exclude one?", p.Group.ProcessClass), Gate: plan.GateBudget,
			OK: true, Evidence: fmt.Sprintf("%s is already excluded", p.Group.ProcessGroupID),
		}
	}
	ongoing := 0
	for _, g := range p.Groups() {
		if g != p.Group && g.ProcessClass == p.Group.ProcessClass && g.IsMarkedForRemoval() && !g.IsExcluded() {
			ongoing++
		}
	}
	_, check := ExclusionBudget(p.Snapshot, p.Group.ProcessClass, ongoing)
	return check
}

// drainsFirst checks whether the group is removed only once it is drained.
func drainsFirst(p Pod) plan.Check {
	id := p.Group.ProcessGroupID
	c := plan.Check{ID: plan.CheckDrainedFirst, Subject: string(id), Question: fmt.Sprintf("is %s drained before its removal?", id), Gate: plan.GateExcluded}
	c.OK = !p.Group.ExclusionSkipped && !slices.Contains(p.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion, id)
	c.Evidence = "it is removed only once it is drained"
	if !c.OK {
		c.Evidence = "spec.processGroupsToRemoveWithoutExclusion removes it without draining"
	}
	return c
}

// unreportedCoordinators is the evidence of a check about coordinators where there are none in the
// status document.
const unreportedCoordinators = "the status document does not report the coordinators"

func noCoordinator(p Pod) plan.Check {
	c := plan.Check{ID: plan.CheckNoCoordinator, Subject: string(p.Group.ProcessGroupID), Question: fmt.Sprintf("is %s no coordinator?", p.Group.ProcessGroupID), Gate: plan.GateCoord}
	switch why := noAnswer(p.Database); {
	case why != "":
		c.Evidence = why
	case len(p.Database.Status.Coordinators()) == 0:
		c.Evidence = unreportedCoordinators
	case Coordinates(p.Snapshot, p.Group):
		c.Evidence = "it is a coordinator; coordinators move first"
	default:
		c.OK, c.Evidence = true, "it is not a coordinator"
	}
	return c
}

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
