package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// coordinatorChoice lists the processes that should be coordinators.
type coordinatorChoice struct {
	// candidates is empty when no choice is better than the present coordinators.
	candidates []readings.Candidate
	// short describes what is missing for the desired number; empty for nothing.
	short string
}

func (c coordinatorChoice) addresses() []fdb.Address {
	addresses := make([]fdb.Address, len(c.candidates))
	for i, chosen := range c.candidates {
		addresses[i] = chosen.Address
	}
	return addresses
}

// chooseCoordinators chooses among the reporting processes of all data centers: the desired
// number, or while these cannot be placed the best smaller number.
func chooseCoordinators(s plan.Snapshot, now safety.CoordinatorTolerance, away []v1beta2.ProcessGroupID) coordinatorChoice {
	candidates := coordinatorCandidates(s, away)
	chosen, err := readings.Spread(candidates, s.Cluster.DesiredCoordinators(), coordinatorRule(s.Cluster))
	if err == nil {
		return coordinatorChoice{candidates: chosen}
	}
	return coordinatorChoice{candidates: fewerCoordinators(s, now, candidates), short: coordinatorShortage(s.Cluster, candidates)}
}

// fewerCoordinators returns the choice of fewer coordinators than desired that tolerates
// most: the loss of sites first, then that of fault domains. Its number is odd, as all desired
// numbers are, since one more tolerates no more, and never below the present one. It has to
// tolerate more than the present coordinators: each change costs a recovery.
func fewerCoordinators(s plan.Snapshot, now safety.CoordinatorTolerance, candidates []readings.Candidate) []readings.Candidate {
	var best []readings.Candidate
	least := len(s.Database.Status.Coordinators())
	for n := s.Cluster.DesiredCoordinators() - 2; n >= max(least, 1); n -= 2 {
		chosen, err := readings.Spread(candidates, n, coordinatorRule(s.Cluster))
		if err != nil {
			continue
		}
		tolerance := toleranceOf(s.Cluster, chosen)
		if tolerance.StrongerThan(now) && (best == nil || compareTolerance(tolerance, toleranceOf(s.Cluster, best)) > 0) {
			best = chosen
		}
	}
	return best
}

func toleranceOf(c *v1beta2.FoundationDBCluster, chosen []readings.Candidate) safety.CoordinatorTolerance {
	localities := make([]map[string]string, len(chosen))
	for i, one := range chosen {
		localities[i] = one.Localities
	}
	return safety.ToleranceOfCoordinators(c, len(chosen), localities)
}

func compareTolerance(a, b safety.CoordinatorTolerance) int {
	return cmp.Or(cmp.Compare(a.Sites, b.Sites), cmp.Compare(a.Zones, b.Zones))
}

// coordinatorRule returns how coordinators spread over fault domains, data centers and halls.
func coordinatorRule(c *v1beta2.FoundationDBCluster) readings.SpreadRule {
	rule := readings.SpreadRule{Fields: []string{fdb.LocalityZoneID, fdb.LocalityDCID}, Max: safety.CoordinatorLimits(c), Primary: primaryDataCenter(c)}
	if _, halls := rule.Max[fdb.LocalityDataHall]; halls {
		rule.Fields = append(rule.Fields, fdb.LocalityDataHall)
	}
	return rule
}

// coordinatorShortage describes how many fault domains are missing for the desired number of
// coordinators, and how many each site has.
func coordinatorShortage(c *v1beta2.FoundationDBCluster, candidates []readings.Candidate) string {
	desired := c.DesiredCoordinators()
	placeable := mostCoordinators(c, candidates)
	text := fmt.Sprintf("%d of %d can be placed; %s with a reporting process of class %s required",
		placeable, desired, phrase.Count(desired-placeable, "more fault domain"), strings.Join(coordinatorClasses(c), ", "))
	site := safety.CoordinatorSite(c)
	if site == "" {
		return text
	}
	var where []string
	zones := zonesBySite(c, candidates, site)
	for _, name := range slices.Sorted(maps.Keys(zones)) {
		where = append(where, fmt.Sprintf("%s has %d", siteName(site, name), len(zones[name])))
	}
	return fmt.Sprintf("%s: %s; at most %d each count", text, strings.Join(where, ", "), safety.CoordinatorLimits(c)[site])
}

// mostCoordinators returns how many can be placed, below the desired number.
func mostCoordinators(c *v1beta2.FoundationDBCluster, candidates []readings.Candidate) int {
	for n := c.DesiredCoordinators() - 1; n > 0; n-- {
		if _, err := readings.Spread(candidates, n, coordinatorRule(c)); err == nil {
			return n
		}
	}
	return 0
}

// zonesBySite returns the fault domains of candidates in each data center or hall; all of
// them under "" without sites. Data centers of the spec are included even when empty.
func zonesBySite(c *v1beta2.FoundationDBCluster, candidates []readings.Candidate, site string) map[string]map[string]bool {
	zones := map[string]map[string]bool{}
	add := func(name string) map[string]bool {
		if zones[name] == nil {
			zones[name] = map[string]bool{}
		}
		return zones[name]
	}
	if site == fdb.LocalityDCID {
		for dc := range safety.DataCenters(c) {
			add(dc)
		}
	}
	for _, candidate := range candidates {
		add(candidate.Localities[site])[candidate.Localities[fdb.LocalityZoneID]] = true
	}
	return zones
}

func siteName(field, value string) string {
	kind := map[string]string{fdb.LocalityDCID: "data center", fdb.LocalityDataHall: "data hall"}[field]
	if value == "" {
		return "no " + kind
	}
	return kind + " " + value
}

// coordinatorClasses returns the process classes that are eligible for coordinators.
func coordinatorClasses(c *v1beta2.FoundationDBCluster) []string {
	var classes []string
	for _, class := range v1beta2.ProcessClasses() {
		if _, eligible := c.CoordinatorPriority(class); eligible {
			classes = append(classes, string(class))
		}
	}
	slices.Sort(classes)
	return classes
}

// primaryDataCenter returns the main data center with the highest priority, whose processes
// are preferred as coordinators; empty without regions.
func primaryDataCenter(c *v1beta2.FoundationDBCluster) string {
	primary, highest := "", 0
	for _, region := range c.Spec.DatabaseConfiguration.Regions {
		for _, dc := range region.Datacenters {
			if dc.Satellite == 0 && (primary == "" || dc.Priority > highest) {
				primary, highest = dc.ID, dc.Priority
			}
		}
	}
	return primary
}
