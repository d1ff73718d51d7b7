package stages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// PodsMayGoDown asks whether the pods of process groups may be deleted now, to be made
// anew with the volumes that they have: what UpdatePods asks before it does so itself. It
// also asks whether the database goes on meanwhile, and whether all other fault domains
// are up, which a rollout does not: it may be what mends them, and a person who asks here
// is about to take down what works.
func PodsMayGoDown(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) []plan.Check {
	zones, outdated, placed := zonesOf(s, groups)
	checks := append(podUpdateChecks(s), toleratesLoss(s), settledEverywhere(s), placed)
	if !placed.OK {
		return checks
	}
	checks = append(checks, safety.OthersUp(s, groups[0]))
	left, allowed := besideUnavailable(s, slices.Clone(zones))
	checks = append(checks, onlyIfAll(allowed, zones, left))
	left, allowed = besideMaintenance(s, slices.Clone(zones), outdated)
	checks = append(checks, onlyIfAll(allowed, zones, left))
	left, allowed, _ = besideStarts(s, zones, outdated)
	return append(checks, onlyIfAll(allowed, zones, left))
}

// zonesOf are the fault domains of groups, by what their pods say, else by the record.
// More than one may not go down at once.
func zonesOf(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) (zones []string, pods map[string][]outdatedPod, c plan.Check) {
	c = plan.Check{ID: plan.CheckOneFaultDomain, Question: "are the pods in one fault domain?", Gate: plan.GateReplicas, Need: "1 fault domain"}
	pods = map[string][]outdatedPod{}
	for _, g := range groups {
		zone, known := zoneOf(s.Cluster, s.PodFiles[g.PodName(s.Cluster)].Variables)
		if !known {
			zone = string(g.FaultDomain)
		}
		if zone == "" {
			c.Evidence = fmt.Sprintf("the fault domain of %s is not known", g.ProcessGroupID)
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

// InOneFaultDomain asks whether the pods of groups go down together as one fault domain.
func InOneFaultDomain(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) plan.Check {
	_, _, c := zonesOf(s, groups)
	return c
}

// onlyIfAll refuses where some of the zones may not go down.
func onlyIfAll(c plan.Check, zones, left []string) plan.Check {
	if c.OK && len(left) < len(zones) {
		c.OK = false
	}
	if c.OK && c.Evidence == "" {
		c.Evidence = "it may"
	}
	return c
}

func toleratesLoss(s plan.Snapshot) plan.Check {
	n := s.Cluster.FaultTolerance()
	return plan.Check{
		ID:       plan.CheckToleratesLoss,
		Question: "does the database go on without a fault domain?", Gate: plan.GateReplicas, OK: n > 0, Have: fmt.Sprintf("%d", n), Need: "at least 1",
		Evidence: fmt.Sprintf("redundancy mode %s tolerates the loss of %d", objects.DesiredConfiguration(s.Cluster).RedundancyMode, n),
	}
}

// settledEverywhere asks whether any pod is on its way up or down, or may not be made anew
// now: the database shows a death late.
func settledEverywhere(s plan.Snapshot) plan.Check {
	c := plan.Check{ID: plan.CheckPodsSettled, Question: "are all pods settled?", Gate: plan.GateReplicas}
	switch why, frozen := unsettledPods(s), specsFrozen(s.Cluster); {
	case frozen != "":
		c.Evidence = "no pod may be made anew " + frozen
	case len(why) > 0:
		c.Evidence = why[0]
		if len(why) > 1 {
			c.Evidence += fmt.Sprintf("; and %d more", len(why)-1)
		}
	default:
		c.OK, c.Evidence = true, "they are"
	}
	return c
}

// RestartChecks are what has to hold before servers restart on purpose.
func RestartChecks(s plan.Snapshot) []plan.Check {
	d, _ := calmForRestart(s, "")
	return d.Checks
}

// ExclusionMayStart asks whether process groups could start to drain now: what
// ExcludeInstances asks once they are marked for removal. Those that drain already, or are
// done with it, count as ongoing or not at all.
func ExclusionMayStart(s plan.Snapshot, groups []*v1beta2.ProcessGroupStatus) []plan.Check {
	available := safety.Available(s.Database)
	if !available.OK {
		return []plan.Check{available}
	}
	e := newExclusions(s)
	for _, g := range notDrained(s) {
		e.sort(g)
	}
	d, calm := e.calm()
	checks := append([]plan.Check{available}, d.Checks...)
	if !calm {
		return checks
	}
	for _, class := range v1beta2.ProcessClasses() {
		wanted := 0
		for _, g := range groups {
			if g.ProcessClass == class && !g.IsMarkedForRemoval() && !class.IsTester() {
				wanted++
			}
		}
		if wanted > 0 {
			checks = append(checks, enoughFor(s, class, wanted, e))
		}
	}
	return checks
}

// enoughFor asks whether the budget of a class has room for so many groups, beside those
// that drain and those that are marked and come first.
func enoughFor(s plan.Snapshot, class v1beta2.ProcessClass, wanted int, e *exclusions) plan.Check {
	before := e.ongoing[class]
	for _, g := range e.candidates {
		if g.ProcessClass == class {
			before++
		}
	}
	budget, c := safety.ExclusionBudget(s, class, before)
	c.OK = budget >= wanted
	c.Need = fmt.Sprintf("at least %d", wanted)
	return c
}

// UpgradeChecks asks what CheckClientCompatibility asks once the spec wants a version. The
// last check is its verdict.
func UpgradeChecks(s plan.Snapshot, version string) []plan.Check {
	c := s.Cluster.DeepCopy()
	c.Spec.Version = version
	s.Cluster = c
	d := checkClientCompatibility.Decide(s)
	verdict := plan.Check{ID: plan.CheckVersionAllowed, Subject: version, Question: "may the database and its clients go to " + version + "?", Gate: plan.GateConfig, OK: d.Hold == nil, Evidence: "nothing is against it"}
	if d.Hold != nil {
		verdict.Evidence = d.Hold.Text()
	}
	return append(d.Checks, verdict)
}
