package safety

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// disruptable is the rule of the PodDisruptionBudget: whoever evicts a pod asks no other
// question. So the rule does not depend on the pod, and a coordinator may be the one: a quorum
// remains without any one of them as long as all are reachable.
var disruptable = AllOf(recent, keepsCopies, fullyTolerant, otherZonesUp, otherZonesSettled, noMaintenance)

var (
	keepsCopies   = When("data and logs have copies", func(p Pod) plan.Check { return hasCopies(p.Snapshot) })
	noMaintenance = When("no zone is under maintenance", noMaintenanceAnywhere)
)

// MayLoseAnyPod checks whether the database tolerates now that any one pod with data or
// coordination state disappears, whichever it is. All of the checks must be OK.
func MayLoseAnyPod(s plan.Snapshot) []plan.Check {
	if NoDatabaseYet(s) {
		return Always[Pod]("the database does not exist yet").Ask(Pod{Snapshot: s})
	}
	// A pod of an unknown fault domain: all known ones are other ones.
	return disruptable.Ask(Pod{Snapshot: s, Group: &v1beta2.ProcessGroupStatus{}})
}

// OthersOfClassUp checks whether all other process groups of a class that keeps no data have pods
// whose processes report. A pod that was evicted before is missing here long before the database
// notices: its process runs until the grace period ends, and a recovery follows only then.
func OthersOfClassUp(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) plan.Check {
	c := plan.Check{
		ID: plan.CheckClassUp, Subject: string(g.ProcessClass), Question: fmt.Sprintf("are all other %s process groups up?", g.ProcessClass),
		Gate: plan.GateReplicas, OK: true, Evidence: "all others have their pods and report",
	}
	if why := noAnswer(s.Database); why != "" {
		c.OK, c.Evidence = false, why
		return c
	}
	for _, other := range s.Remaining() {
		if other == g || other.ProcessClass != g.ProcessClass {
			continue
		}
		if why := notUp(s, other); why != "" {
			c.OK, c.Evidence = false, fmt.Sprintf("%s %s", other.ProcessGroupID, why)
			return c
		}
	}
	return c
}

// NeverDisruptable reports whether MayLoseAnyPod is refused for as long as the redundancy mode is
// what it is: there is only one copy of some data.
func NeverDisruptable(s plan.Snapshot) bool {
	known := noAnswer(s.Database) == "" && s.Database.Status.Cluster.Configuration != nil
	return known && !NoDatabaseYet(s) && withoutCopies(s)
}

func hasCopies(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckToleratesLoss, Question: "do all data and logs have copies?", Gate: plan.GateReplicas}
	if c.Evidence = noAnswer(s.Database); c.Evidence != "" {
		return c
	}
	if s.Database.Status.Cluster.Configuration == nil {
		c.Evidence = unknownRedundancy(s)
		return c
	}
	c.OK = !withoutCopies(s)
	c.Evidence = "all data and logs have copies"
	if !c.OK {
		c.Evidence = "the redundancy mode keeps a single copy of data or logs"
	}
	return c
}

func noMaintenanceAnywhere(p Pod) plan.Check {
	known := MaintenanceKnown(p.Database)
	c := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is no zone under maintenance?", Gate: known.Gate, OK: known.OK, Evidence: known.Evidence}
	if c.OK {
		now, _ := p.Database.Status.Maintenance()
		c.OK = !now.Active()
	}
	return c
}

const maintenanceNotReported = "the database does not report whether a zone is under maintenance"

// MaintenanceKnown checks whether the database reports which zone is under maintenance, if any.
func MaintenanceKnown(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckNoOtherMaintenance, Question: "is it known which zone is under maintenance?", Gate: plan.GateMaintain}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	now, known := d.Status.Maintenance()
	switch {
	case !known:
		c.Evidence = maintenanceNotReported
	case now.Zone != "":
		c.OK, c.Evidence = true, "zone "+now.Zone+" is under maintenance"
	default:
		c.OK, c.Evidence = true, "no zone is under maintenance"
	}
	return c
}
