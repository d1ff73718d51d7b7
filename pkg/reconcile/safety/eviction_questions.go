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

// The questions of the eviction rules, under the names that the rules call them by.
var (
	recent              = When("the facts are fresh", func(p Pod) plan.Check { return RecentProof(p.Snapshot) })
	available           = When("the database is available", func(p Pod) plan.Check { return Available(p.Database) })
	recoveredAWhile     = When("the last recovery is 2 min ago", func(p Pod) plan.Check { return RecoveredFor(p.Database, betweenRecoveries) })
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
	throughDrain        = When("it is drained before it goes", drainsFirst)
	notCoordinating     = When("the coordinators have moved away", noCoordinator)
	coordinationCanMove = When("the coordinators can move away", coordinatorsCanMove)
)

// betweenRecoveries is how long the last recovery has to be ago before a pod goes whose
// roles recruit anew: that causes the next one. As before exclusions.
const betweenRecoveries = 2 * time.Minute

// withoutRoles asks whether none of a group's processes plays one of the roles:
// FoundationDB puts roles onto other classes when nothing better is left. A fully
// recovered database needs no log that does not report.
func withoutRoles(p Pod, roles ...string) plan.Check {
	c := plan.Check{ID: plan.CheckNoData, Subject: string(p.Group.ProcessGroupID), Question: fmt.Sprintf("has %s no data of the database?", p.Group.ProcessGroupID), Gate: plan.GateExcluded}
	status := p.Database.Status
	switch {
	case status == nil:
		c.Evidence = p.Database.Why()
	case !status.RolesKnown() || !status.FullyRecovered():
		c.Evidence = "the roles of its processes cannot be trusted now"
	default:
		c.Evidence = roleOn(p, roles)
		c.OK = c.Evidence == ""
		if c.OK {
			c.Evidence = "none of its processes holds any"
		}
	}
	return c
}

func roleOn(p Pod, roles []string) string {
	for _, process := range processesOf(p.Snapshot, p.Group) {
		for _, role := range roles {
			if process.HasRole(role) {
				return whose(process) + " is " + role
			}
		}
	}
	return ""
}

// volumeStays asks whether the pod comes back over the data that it has.
func volumeStays(p Pod) plan.Check {
	name := p.Group.PVCName(p.Cluster)
	c := plan.Check{ID: plan.CheckKeepsVolume, Subject: string(p.Group.ProcessGroupID), Question: fmt.Sprintf("does %s keep its volume?", p.Group.ProcessGroupID), Gate: plan.GateReplicas}
	claim := p.Volumes[name]
	switch {
	case claim == nil:
		c.Evidence = "volume claim " + name + " is not there"
	case claim.DeletionTimestamp != nil:
		c.Evidence = "volume claim " + name + " is being deleted"
	case p.Group.IsMarkedForRemoval():
		c.Evidence = "the group is marked for removal, and nobody makes its pod anew"
	default:
		c.OK, c.Evidence = true, "volume claim "+name+" stays"
	}
	return c
}

// OthersUp asks whether no data or coordination is missing in a fault domain other than
// a group's.
func OthersUp(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	return othersUp(Pod{Snapshot: s, Group: g})
}

// othersUp asks whether no data or coordination is missing in another fault domain. A
// group without a known fault domain is in another one.
func othersUp(p Pod) plan.Check {
	c := plan.Check{ID: plan.CheckOtherDomainsUp, Question: "are all other fault domains up?", Gate: plan.GateReplicas}
	if p.Database.Status == nil {
		c.Evidence = p.Database.Why()
		return c
	}
	for _, other := range p.Groups() {
		if other.IsGone() || !other.ProcessClass.IsStateful() || (other.FaultDomain != "" && other.FaultDomain == p.Group.FaultDomain) || other == p.Group {
			continue
		}
		if why := notUp(p.Snapshot, other); why != "" {
			c.Evidence = fmt.Sprintf("%s of fault domain %s %s", other.ProcessGroupID, phrase.Or(string(other.FaultDomain), phrase.Unknown), why)
			return c
		}
	}
	c.OK, c.Evidence = true, "all groups with data there have their pods and report"
	return c
}

func notUp(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	pod := s.Pod(g)
	switch {
	case pod == nil:
		return "has no pod"
	case pod.DeletionTimestamp != nil:
		return "has a pod that terminates"
	case len(reportingOf(s, g)) < serversOf(s, g):
		return "does not report with all its processes"
	default:
		return ""
	}
}

// othersSettled asks whether every process that keeps data in another fault domain has been up
// for as long as a death takes to show.
func othersSettled(p Pod) plan.Check {
	c, _ := JustStarted(p.Snapshot).Elsewhere(string(p.Group.FaultDomain))
	return c
}

func noMaintenanceElsewhere(p Pod) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is no other zone under maintenance?", Gate: plan.GateMaintain}
	if p.Database.Status == nil {
		c.Evidence = p.Database.Why()
		return c
	}
	zone := p.Database.Status.Maintenance().Zone
	c.OK = zone == "" || zone == string(p.Group.FaultDomain)
	c.Evidence = "none is"
	if zone != "" {
		c.Evidence = fmt.Sprintf("zone %s is, and the group is in %s", zone, phrase.Or(string(p.Group.FaultDomain), phrase.Unknown))
	}
	return c
}

// spareOf asks the budget of exclusions; groups of the class that already drain count. One
// that is excluded already takes nothing from it.
func spareOf(p Pod) plan.Check {
	if Excluded(p.Snapshot, p.Group) {
		return plan.Check{
			ID: plan.CheckExclusionBudget, Subject: string(p.Group.ProcessClass),
			Question: fmt.Sprintf("are enough %s processes up to let one go?", p.Group.ProcessClass), Gate: plan.GateBudget,
			OK: true, Evidence: fmt.Sprintf("%s is excluded already", p.Group.ProcessGroupID),
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

// drainsFirst asks whether the group leaves on a proof only.
func drainsFirst(p Pod) plan.Check {
	id := p.Group.ProcessGroupID
	c := plan.Check{ID: plan.CheckDrainedFirst, Subject: string(id), Question: fmt.Sprintf("is %s drained before it goes?", id), Gate: plan.GateExcluded}
	c.OK = !p.Group.ExclusionSkipped && !slices.Contains(p.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion, id)
	c.Evidence = "it stays until it is"
	if !c.OK {
		c.Evidence = "spec.processGroupsToRemoveWithoutExclusion lets it go without that"
	}
	return c
}

func noCoordinator(p Pod) plan.Check {
	c := plan.Check{ID: plan.CheckNoCoordinator, Subject: string(p.Group.ProcessGroupID), Question: fmt.Sprintf("is %s no coordinator?", p.Group.ProcessGroupID), Gate: plan.GateCoord}
	switch {
	case p.Database.Status == nil:
		c.Evidence = p.Database.Why()
	case len(p.Database.Status.Coordinators()) == 0:
		c.Evidence = "the status document does not tell the coordinators"
	case Coordinates(p.Snapshot, p.Group):
		c.Evidence = "it is one; coordinators move first"
	default:
		c.OK, c.Evidence = true, "it is none"
	}
	return c
}
