package safety

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// CanHold checks whether the reporting processes can hold a configuration: enough fault
// domains for its replicas, for storage and for logs, and for three_data_hall enough data
// halls. With regions, the check covers the main data center of each, and the satellites of
// those that may serve. FoundationDB itself accepts a configuration that the processes cannot
// hold, and then waits forever.
func CanHold(d plan.DatabaseFacts, want fdb.Configuration) plan.Check {
	c := plan.Check{ID: plan.CheckConfigurationHolds, Question: fmt.Sprintf("can the reporting processes hold %s?", want.RedundancyMode), Gate: plan.GateConfig}
	processes, unknown := eligible(d)
	if unknown != "" {
		c.Evidence = unknown
		return c
	}
	if _, known := fdb.MinimumFaultDomains(want.RedundancyMode); !known {
		c.Evidence = fmt.Sprintf("the number of fault domains that %s requires is unknown", want.RedundancyMode)
		return c
	}
	var found []string
	for _, needed := range demands(want) {
		words, ok := needed.met(processes)
		if !ok {
			c.Evidence = words
			return c
		}
		found = append(found, words)
	}
	c.OK, c.Evidence = true, strings.Join(found, ", ")
	return c
}

// EngineMigrates checks whether the database accepts the storage engine: while storage_migration_type is disabled, as
// it is unless it was set, it refuses another one, and with it the whole configuration. Unknown is left to the database.
func EngineMigrates(have, want fdb.Configuration, version fdb.Version) plan.Check {
	c := plan.Check{ID: plan.CheckEngineMigrates, Question: "does the database accept the storage engine?", Gate: plan.GateConfig, OK: true, Evidence: "the storage engine does not change"}
	with := have
	with.StorageEngine = want.StorageEngine
	if len(have.Differences(with, version)) == 0 {
		return c
	}
	migration := ptr.Deref(want.StorageMigrationType, "")
	if migration == "" {
		migration = ptr.Deref(have.StorageMigrationType, "")
	}
	c.OK, c.Evidence = migration != string(v1beta2.StorageMigrationDisabled), "storage_migration_type is "+cmp.Or(migration, phrase.Unknown)
	return c
}

// threeDataHalls is how many data halls the redundancy mode of that name needs.
const threeDataHalls = 3

// demand is how many values of a locality must be among the processes of a kind.
type demand struct {
	// where are data centers of which some must meet the demand, each by itself; nil means
	// all processes together.
	where []string
	// some is how many data centers must meet the demand.
	some int
	// region is the prefix of the evidence that names the region; empty without regions.
	region string
	kind   string
	may    func(fdb.Process) bool
	key    string
	noun   string // singular
	need   int
}

func demands(want fdb.Configuration) []demand {
	if len(want.Regions) == 0 {
		return dataDemands(want.RedundancyMode, "")
	}
	var all []demand
	for _, r := range want.Regions {
		main, _ := r.Main()
		all = append(all, dataDemands(want.RedundancyMode, main.ID)...)
		if s, ok := satelliteDemand(r); ok {
			all = append(all, s)
		}
	}
	return all
}

// dataDemands are those of a full copy of the data, in one data center or anywhere, in a
// mode that is known.
func dataDemands(mode, dc string) []demand {
	domains, _ := fdb.MinimumFaultDomains(mode)
	zones := demand{key: fdb.LocalityZoneID, noun: "fault domain", need: domains, some: 1}
	if dc != "" {
		zones.where, zones.region = []string{dc}, "region "+dc+": "
	}
	storage, logs := zones, zones
	storage.kind, storage.may = "storage", storesData
	logs.kind, logs.may = "log", keepsLogs
	if mode != fdb.RedundancyThreeDataHall {
		return []demand{storage, logs}
	}
	halls := storage
	halls.key, halls.noun, halls.need = fdb.LocalityDataHall, "data hall", threeDataHalls
	return []demand{storage, logs, halls}
}

// satelliteModes are in how many satellites, and in how many fault domains of each,
// a mode keeps logs. Source: FoundationDB's table of satellite modes.
var satelliteModes = map[string]struct{ satellites, zones int }{
	"one_satellite_single": {1, 1},
	"one_satellite_double": {1, 2},
	"one_satellite_triple": {1, 3},
	"two_satellite_safe":   {2, 2},
	"two_satellite_fast":   {2, 2},
}

// satelliteDemand is that of a region which may serve: only a primary one uses its
// satellites.
func satelliteDemand(r fdb.Region) (demand, bool) {
	mode, used := satelliteModes[r.SatelliteRedundancyMode]
	if !used || !r.MayServe() {
		return demand{}, false
	}
	main, _ := r.Main()
	d := demand{region: "satellites of region " + main.ID + ": ", kind: "log", may: keepsLogs, key: fdb.LocalityZoneID, noun: "fault domain", need: mode.zones, some: mode.satellites}
	d.where = []string{} // a mode without satellites is met nowhere
	for _, dc := range r.DataCenters {
		if dc.Satellite != 0 {
			d.where = append(d.where, dc.ID)
		}
	}
	return d, true
}

// met reports whether the demand is met, and returns the evidence.
func (a demand) met(processes []fdb.Process) (words string, ok bool) {
	if a.where == nil {
		n := distinct(processes, a.may, a.key)
		return a.words(n), n >= a.need
	}
	counts := []int{0} // used without any data center
	for _, dc := range a.where {
		counts = append(counts, distinct(processes, func(p fdb.Process) bool { return a.may(p) && p.DC() == dc }, a.key))
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	decisive := counts[min(a.some, len(counts))-1]
	return a.words(decisive), decisive >= a.need
}

func (a demand) words(n int) string {
	if n < a.need {
		return fmt.Sprintf("%s%s processes in %s, %d required", a.region, a.kind, phrase.Count(n, a.noun), a.need)
	}
	if a.key == fdb.LocalityDataHall {
		return fmt.Sprintf("%s%s", a.region, phrase.Count(n, a.noun))
	}
	return fmt.Sprintf("%s%s processes in %s", a.region, a.kind, phrase.Count(n, a.noun))
}

func storesData(p fdb.Process) bool { return p.ClassType == "storage" }

func keepsLogs(p fdb.Process) bool { return p.ClassType == "log" || p.ClassType == "transaction" }

// distinct counts the values of a locality among processes that may take the role.
func distinct(processes []fdb.Process, may func(fdb.Process) bool, key string) int {
	values := map[string]bool{}
	for _, p := range processes {
		if may(p) && p.Locality[key] != "" {
			values[p.Locality[key]] = true
		}
	}
	return len(values)
}

// DistributionHolds checks whether spec.distributionConfig has as many fault domains as the
// coordinators and the replicas of this resource need: pods that are packed into fewer leave none
// for them. The cluster must pack its pods.
func DistributionHolds(c *v1beta2.FoundationDBCluster) plan.Check {
	have, need := c.Distribution().DesiredFaultDomains, max(ownCoordinators(c), ownDataDomains(c))
	return plan.Check{
		ID: plan.CheckDistributionHolds, Gate: plan.GateConfig, OK: have >= need,
		Question: "are the desired fault domains enough for coordinators and replicas?",
		Evidence: fmt.Sprintf("spec.distributionConfig.desiredFaultDomains is %d, %d required: %s, and %s keeps data available in %d",
			have, need, phrase.Count(ownCoordinators(c), "coordinator"), redundancyMode(c), ownDataDomains(c)),
		Have: fmt.Sprint(have), Need: fmt.Sprintf("at least %d", need),
	}
}

func redundancyMode(c *v1beta2.FoundationDBCluster) string {
	if mode := c.Spec.DatabaseConfiguration.RedundancyMode; mode != "" {
		return string(mode)
	}
	return fdb.RedundancyDouble
}

// ownCoordinators returns how many coordinators this resource has to hold, each in a fault domain of
// its own.
func ownCoordinators(c *v1beta2.FoundationDBCluster) int {
	limit := c.DesiredCoordinators()
	switch limits := CoordinatorLimits(c); {
	case limits[fdb.LocalityDCID] > 0:
		return min(limit, limits[fdb.LocalityDCID])
	case limits[fdb.LocalityDataHall] > 0 && c.Spec.DataHall != "":
		return min(limit, limits[fdb.LocalityDataHall])
	default:
		return limit
	}
}

// ownDataDomains returns how many fault domains of this resource keep its data fully replicated while
// as many fail as its redundancy tolerates. A resource with one of three data halls has a third.
func ownDataDomains(c *v1beta2.FoundationDBCluster) int {
	domains := c.MinimumFaultDomains() + c.FaultTolerance()
	if c.Spec.DatabaseConfiguration.RedundancyMode == v1beta2.RedundancyModeThreeDataHall && c.Spec.DataHall != "" {
		return (domains + threeDataHalls - 1) / threeDataHalls
	}
	return domains
}
