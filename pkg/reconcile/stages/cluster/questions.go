package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// PodsMayGoDown returns the checks before the pods of process groups may be deleted, and
// recreated with their volumes: those of UpdatePods, and that the volumes stay. It also checks whether the database stays
// available meanwhile, and whether all other fault domains are up, which a rollout does not: a
// rollout may be the fix, but here a user is about to take down what works.
func PodsMayGoDown(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) []plan.Check {
	zones, outdated, placed := zonesOf(s, groups)
	var checks []plan.Check
	for _, g := range groups {
		checks = append(checks, safety.VolumeStays(s, g))
	}
	checks = append(append(checks, podUpdateChecks(s)...), toleratesLoss(s), settledEverywhere(s), placed)
	if !placed.OK {
		return checks
	}
	checks = append(checks, safety.OthersUp(s, groups[0]))
	left, allowed := withinUnavailableBudget(s, slices.Clone(zones))
	checks = append(checks, onlyIfAll(allowed, zones, left))
	left, allowed = outsideMaintenance(s, slices.Clone(zones), outdated)
	checks = append(checks, onlyIfAll(allowed, zones, left))
	left, allowed, _ = withoutRecentStarts(s, zones, outdated)
	return append(checks, onlyIfAll(allowed, zones, left))
}

// zonesOf returns the fault domains of groups, as their pods report, else by the status. More
// than one may not go down at once.
func zonesOf(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) (zones []string, pods map[string][]outdatedPod, c plan.Check) {
	c = plan.Check{ID: plan.CheckOneFaultDomain, Question: "are the pods in one fault domain?", Gate: plan.GateReplicas, Need: "1 fault domain"}
	pods = map[string][]outdatedPod{}
	for _, g := range groups {
		zone, known := readings.ZoneOf(s.Cluster, s.PodFiles[g.PodName(s.Cluster)].Variables)
		if !known {
			zone = string(g.FaultDomain)
		}
		if zone == "" {
			c.Evidence = fmt.Sprintf("the fault domain of %s is unknown", g.ProcessGroupID)
			return nil, nil, c
		}
		if len(pods[zone]) == 0 {
			zones = append(zones, zone)
		}
		pods[zone] = append(pods[zone], outdatedPod{class: g.ProcessClass, zone: zone})
	}
	slices.Sort(zones)
	c.OK, c.Have, c.Evidence = len(zones) == 1, fmt.Sprintf("%d", len(zones)), "they are in "+strings.Join(zones, ", ")
	return zones, pods, c
}

// InOneFaultDomain checks whether the pods of groups go down together as one fault domain.
func InOneFaultDomain(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) plan.Check {
	_, _, c := zonesOf(s, groups)
	return c
}

// onlyIfAll refuses if some of the zones may not go down.
func onlyIfAll(c plan.Check, zones, left []string) plan.Check {
	if c.OK && len(left) < len(zones) {
		c.OK = false
	}
	if c.OK && c.Evidence == "" {
		c.Evidence = "allowed"
	}
	return c
}

func toleratesLoss(s plan.Snapshot) plan.Check {
	n := s.Cluster.FaultTolerance()
	return plan.Check{
		ID:       plan.CheckToleratesLoss,
		Question: "does the database stay available without a fault domain?", Gate: plan.GateReplicas, OK: n > 0, Have: fmt.Sprintf("%d", n), Need: "at least 1",
		Evidence: fmt.Sprintf("redundancy mode %s tolerates the loss of %d", objects.DesiredConfiguration(s.Cluster).RedundancyMode, n),
	}
}

// settledEverywhere checks whether no pod is starting or terminating, and pods may be recreated
// now: the database reports a death late.
func settledEverywhere(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckPodsSettled, Question: "are all pods settled?", Gate: plan.GateReplicas}
	switch why, frozen := UnsettledPods(s), specsFrozen(s.Cluster); {
	case frozen != "":
		c.Evidence = "no pod may be recreated " + frozen
	case len(why) > 0:
		c.Evidence = why[0]
		if len(why) > 1 {
			c.Evidence += fmt.Sprintf("; and %d more", len(why)-1)
		}
	default:
		c.OK, c.Evidence = true, "no pod starts, terminates, or waits for something"
	}
	return c
}

// ExclusionMayStart returns the checks before process groups may be excluded now: those of
// ExcludeInstances once they are marked for removal. Groups that are draining count as ongoing,
// and drained ones not at all.
func ExclusionMayStart(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) []plan.Check {
	available := safety.Available(s.Database)
	if !available.OK {
		return []plan.Check{available}
	}
	e := readings.NewExclusions(s)
	for _, g := range notDrained(s) {
		e.Classify(g)
	}
	d, stable := CheckStable(e)
	checks := append([]plan.Check{available}, d.Checks...)
	if !stable {
		return checks
	}
	for _, class := range v1beta2.ProcessClasses() {
		requested := 0
		for _, g := range groups {
			if g.ProcessClass == class && !g.IsMarkedForRemoval() && !class.IsTester() {
				requested++
			}
		}
		if requested > 0 {
			checks = append(checks, enoughFor(s, class, requested, e))
		}
	}
	return checks
}

// enoughFor checks whether the budget of a class allows so many groups, besides those that are
// draining and those that are marked and come first.
func enoughFor(s plan.Snapshot, class v1beta2.ProcessClass, requested int, e *readings.Exclusions) plan.Check {
	before := e.Ongoing[class]
	for _, g := range e.Candidates {
		if g.ProcessClass == class {
			before++
		}
	}
	budget, c := safety.ExclusionBudget(s, class, before)
	c.OK = budget >= requested
	c.Need = fmt.Sprintf("at least %d", requested)
	return c
}

// UpgradeChecks returns the checks of CheckClientCompatibility for a version in the spec. The
// last check is its verdict.
func UpgradeChecks(s plan.Snapshot, version string) []plan.Check {
	c := s.Cluster.DeepCopy()
	c.Spec.Version = version
	s.Cluster = c
	d := CheckClientCompatibility.Decide(s)
	verdict := plan.Check{ID: plan.CheckVersionAllowed, Subject: version, Question: "are the database and its clients compatible with " + version + "?", Gate: plan.GateConfig, OK: d.Hold == nil, Evidence: "nothing prevents it"}
	if d.Hold != nil {
		verdict.Evidence = d.Hold.Text()
	}
	return append(d.Checks, verdict)
}
