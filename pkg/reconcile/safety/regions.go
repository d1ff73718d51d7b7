package safety

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// populating is the state of a region that data distribution reports as healthy while the
// region does not have all of the data yet.
const populating = "healthy_populating_region"

// RegionsReplicated checks whether the second region has a full copy of the data. A healthy
// database is no proof: recorded right after usable_regions=2, it reports healthy without any
// data in the second region.
func RegionsReplicated(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckRegionsFull, Question: "does each region have a full copy of the data?", Gate: plan.GateReplicas}
	switch {
	case d.Status == nil:
		c.Evidence = noStatus(d)
	case !d.Status.Available():
		c.Evidence = "the database is unavailable"
	case !d.Status.RolesKnown() || d.Status.Cluster.FullReplication == nil:
		c.Evidence = "the status document does not report the replication of the data"
	case !*d.Status.Cluster.FullReplication:
		c.Evidence = "the data is not fully replicated"
	default:
		c.Evidence = incompleteRegion(d.Status)
		c.OK = c.Evidence == ""
		if c.OK {
			c.Evidence = "both regions are fully replicated"
		}
	}
	return c
}

// incompleteRegion returns which region has no full copy, and why; empty for none.
func incompleteRegion(s *fdb.Status) string {
	if s.Cluster.Configuration == nil {
		return "the number of replicas of each region is unknown: the status document has no configuration"
	}
	need, known := s.Cluster.Configuration.Replicas()
	if !known {
		return fmt.Sprintf("the number of replicas of each region is unknown for the redundancy mode %s", phrase.Or(s.Cluster.Configuration.RedundancyMode, phrase.Unknown))
	}
	seen := map[bool]bool{}
	if s.Cluster.Data != nil {
		for _, tracker := range s.Cluster.Data.TeamTrackers {
			seen[tracker.Primary] = true
			if why := incomplete(tracker.State, need); why != "" {
				return regionInWords(tracker.Primary) + " " + why
			}
		}
	}
	for _, primary := range []bool{true, false} {
		if !seen[primary] {
			return "data distribution does not show " + regionInWords(primary) + " yet"
		}
	}
	return ""
}

func incomplete(state fdb.DataState, need int) string {
	switch {
	case state.Name == populating:
		return "is still being populated"
	case state.Healthy == nil || !*state.Healthy:
		return "is not healthy: its state is " + phrase.Or(state.Name, phrase.Unknown)
	case state.MinReplicasRemaining == nil || *state.MinReplicasRemaining < need:
		return fmt.Sprintf("has too few replicas of some data, %d required", need)
	}
	return ""
}

func regionInWords(primary bool) string {
	if primary {
		return "the primary region"
	}
	return "the second region"
}

// PrimaryServes checks whether the region with the highest priority serves. Otherwise the
// database has failed over, or is about to, and a change of regions would rely on the wrong
// one.
func PrimaryServes(d plan.DatabaseFacts, c fdb.Configuration, home string) plan.Check {
	primary, _ := c.Primary()
	main, _ := primary.Main()
	check := plan.Check{ID: plan.CheckRegionServes, Question: "does the region with the highest priority serve?", Gate: plan.GateConfig}
	switch why := noAnswer(d); {
	case why != "":
		check.Evidence = why
	case home == "":
		check.Evidence = "the status document does not report which region serves"
	case !hasPriority(c, home, main.Priority):
		check.Evidence = fmt.Sprintf("%s serves, %s has the highest priority", home, main.ID)
	default:
		check.OK, check.Evidence = true, home+" serves"
	}
	return check
}

func hasPriority(c fdb.Configuration, dc string, priority int) bool {
	for _, r := range c.Regions {
		if main, ok := r.Main(); ok && main.ID == dc && main.Priority == priority {
			return true
		}
	}
	return false
}

// StorageInRegions checks whether each storage process is in a region of the desired
// configuration. FoundationDB refuses to leave one behind; those of a region that is no
// longer usable are removed by the database, in about half a minute.
func StorageInRegions(d plan.DatabaseFacts, want fdb.Configuration) plan.Check {
	c := plan.Check{ID: plan.CheckStorageInRegions, Question: "is each storage process in one of the regions?", Gate: plan.GateConfig}
	switch {
	case d.Status == nil:
		c.Evidence = noStatus(d)
		return c
	case !d.Status.RolesKnown():
		c.Evidence = "the status document does not report all roles"
		return c
	}
	regions := map[string]bool{}
	for _, r := range want.Regions {
		main, _ := r.Main()
		regions[main.ID] = true
	}
	var outside []string
	for _, p := range d.Status.ProcessList() {
		if p.HasRole(fdb.RoleStorage) && !regions[p.DC()] {
			outside = append(outside, fmt.Sprintf("%s (data center %s)", p.InstanceID(), phrase.Or(p.DC(), phrase.Unknown)))
		}
	}
	c.OK, c.Evidence = len(outside) == 0, "all storage processes are in one of the regions"
	if !c.OK {
		c.Evidence = fmt.Sprintf("%s outside of the regions: %s", phrase.Count(len(outside), "storage process"), strings.Join(outside[:min(len(outside), namedServers)], ", "))
	}
	return c
}

// namedServers is how many processes a check names.
const namedServers = 3
