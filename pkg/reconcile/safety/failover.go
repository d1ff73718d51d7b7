package safety

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// maxRegionLag is the lag up to which FoundationDB itself makes a region primary whose priority is the
// highest: 20 s of versions (knob MAX_VERSION_DIFFERENCE); above, the change of priorities would wait.
const maxRegionLag = 20 * time.Second

// RegionEligible checks whether a region can become primary: in the database with two usable regions, with
// a priority that permits it.
func RegionEligible(d plan.DatabaseFacts, dc string) plan.Check {
	c := plan.Check{ID: plan.CheckRegionEligible, Subject: dc, Question: "may this region become primary?", Gate: plan.GateConfig}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	configuration := d.Status.Cluster.Configuration
	if configuration == nil {
		c.Evidence = "the status document has no configuration"
		return c
	}
	priority, found := priorityOf(*configuration, dc)
	switch {
	case !found:
		c.Evidence = fmt.Sprintf("%s is not the main data center of a region of the database, which has %s", dc, phrase.Or(phrase.List(mainDataCenters(*configuration)), "none"))
	case configuration.UsableRegions < 2:
		c.Evidence = fmt.Sprintf("usable_regions is %d: only one region has the data", configuration.UsableRegions)
	case priority < 0:
		c.Evidence = fmt.Sprintf("its priority is %d, so that it never becomes primary: set it to 0 and reconcile first", priority)
	default:
		c.OK, c.Evidence = true, fmt.Sprintf("usable_regions is %d and its priority %d", configuration.UsableRegions, priority)
	}
	return c
}

func priorityOf(c fdb.Configuration, dc string) (priority int, found bool) {
	for _, r := range c.Regions {
		if main, ok := r.Main(); ok && main.ID == dc {
			return main.Priority, true
		}
	}
	return 0, false
}

func mainDataCenters(c fdb.Configuration) (ids []string) {
	for _, r := range c.Regions {
		if main, ok := r.Main(); ok {
			ids = append(ids, main.ID)
		}
	}
	return ids
}

// RegionCaughtUp checks how far the second region lags behind. Once the priorities are changed, the
// database switches when it has all that was committed, so that nothing is lost.
func RegionCaughtUp(d plan.DatabaseFacts) plan.Check {
	c := plan.Check{ID: plan.CheckRegionCaughtUp, Question: "has the second region nearly all that was committed?", Need: "a lag of at most " + maxRegionLag.String(), Gate: plan.GateReplicas}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	lag := d.Status.Cluster.DatacenterLag
	if lag == nil || lag.Seconds == nil {
		c.Evidence = "the status document does not report the lag between data centers"
		return c
	}
	c.OK = *lag.Seconds <= maxRegionLag.Seconds()
	c.Evidence = fmt.Sprintf("it lags %.1f s", *lag.Seconds)
	return c
}

// RegionsAgree checks whether all resources of a database have the same regions.
func RegionsAgree(all []*v1beta2.FoundationDBCluster) plan.Check {
	c := plan.Check{ID: plan.CheckRegionsAgree, Question: "do all resources of the database have the same regions?", Gate: plan.GateConfig}
	differ := []string{}
	for _, other := range all[1:] {
		if !sameDataCenters(all[0], other) || all[0].Spec.DatabaseConfiguration.UsableRegions != other.Spec.DatabaseConfiguration.UsableRegions {
			differ = append(differ, other.Name)
		}
	}
	if c.OK = len(differ) == 0; c.OK {
		c.Evidence = phrase.Count(len(all), "resource") + ", with the same regions"
	} else {
		c.Evidence = fmt.Sprintf("usable_regions or regions of %s differ from those of %s in more than priorities", phrase.List(differ), all[0].Name)
	}
	return c
}

// sameDataCenters compares regions without the priorities.
func sameDataCenters(a, b *v1beta2.FoundationDBCluster) bool {
	return slices.EqualFunc(a.Spec.DatabaseConfiguration.Regions, b.Spec.DatabaseConfiguration.Regions, func(a, b v1beta2.Region) bool {
		return a.SatelliteLogs == b.SatelliteLogs && a.SatelliteRedundancyMode == b.SatelliteRedundancyMode &&
			slices.EqualFunc(a.Datacenters, b.Datacenters, func(a, b v1beta2.DataCenter) bool { return a.ID == b.ID && a.Satellite == b.Satellite })
	})
}

// RegionsReached checks whether the database has the regions of the spec, so that a change of priorities is
// the only one.
func RegionsReached(d plan.DatabaseFacts, want fdb.Configuration) plan.Check {
	c := plan.Check{ID: plan.CheckRegionsReached, Question: "does the database have the regions of the spec?", Gate: plan.GateConfig}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	have := d.Status.Cluster.Configuration
	if have == nil {
		c.Evidence = "the status document has no configuration"
		return c
	}
	steps, err := have.RegionSteps(want, d.Status.Cluster.ActivePrimaryDC)
	switch {
	case err != nil:
		c.Evidence = err.Error()
	case len(steps) > 0:
		c.Evidence = fmt.Sprintf("they are %s away from the spec: reconcile first", phrase.Count(len(steps), "step"))
	default:
		c.OK, c.Evidence = true, "the regions match the spec"
	}
	return c
}

// ResourcesKnown checks whether every process of the database belongs to one of the resources, which are
// all of the namespace. Others, of other namespaces or Kubernetes clusters, have to be changed there first.
func ResourcesKnown(d plan.DatabaseFacts, others plan.OtherClusterFacts, all []*v1beta2.FoundationDBCluster) plan.Check {
	c := plan.Check{ID: plan.CheckResourcesKnown, Question: "are all resources of the database in this namespace?", Gate: plan.GateConfig}
	if c.Evidence = noAnswer(d); c.Evidence != "" {
		return c
	}
	if !others.Read {
		c.Evidence = "the other FoundationDBClusters of the namespace are unknown: " + phrase.Or(others.NotRead, "they were not read")
		return c
	}
	known := map[string]bool{}
	for _, resource := range all {
		for _, g := range resource.Status.ProcessGroups {
			known[string(g.ProcessGroupID)] = true
		}
	}
	elsewhere := map[string]int{}
	for _, p := range d.Status.ProcessList() {
		if !known[p.InstanceID()] {
			elsewhere[phrase.Or(p.DC(), phrase.Unknown)]++
		}
	}
	if c.OK = len(elsewhere) == 0; c.OK {
		c.Evidence = "every process belongs to " + phrase.Count(len(all), "resource")
		return c
	}
	var words []string
	for dc, n := range elsewhere {
		words = append(words, phrase.Count(n, "process")+" in "+dc)
	}
	slices.Sort(words)
	c.Evidence = "of other resources: " + strings.Join(words, ", ") + ". Give those the same priorities first"
	return c
}
