package v1beta2

import (
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// storageEngines returns the engines of the CRD: those that FoundationDB accepts by name, and
// two that only the CRD lists.
func storageEngines() []StorageEngine {
	engines := slices.DeleteFunc(fdb.StorageEngines(), func(name string) bool { return name == fdb.EngineMemoryRadixTree })
	return append(named[StorageEngine](engines), StorageEngineRocksDBExperimental, StorageEngineCustom)
}

// dataCenterPattern excludes characters that end a command or a JSON string.
var dataCenterPattern = regexp.MustCompile(`^[^\s\pC;'"\\]+$`)

func (c *FoundationDBCluster) checkDatabase(spec *field.Path) field.ErrorList {
	d, path := c.Spec.DatabaseConfiguration, spec.Child("databaseConfiguration")
	errs := oneOf(path.Child("redundancy_mode"), d.RedundancyMode, append(named[RedundancyMode](fdb.RedundancyModes()), "")...)
	if d.StorageEngine != "" {
		errs = append(errs, c.checkEngine(path.Child("storage_engine"), d.StorageEngine)...)
	}
	errs = append(errs, c.checkMigration(path)...)
	return append(errs, d.checkRegions(path)...)
}

func (c *FoundationDBCluster) checkEngine(path *field.Path, engine StorageEngine) field.ErrorList {
	errs := oneOf(path, engine, storageEngines()...)
	since, known := fdb.StorageEngineSince(string(engine))
	if v, err := fdb.ParseExactVersion(c.Spec.Version); known && err == nil && since != fdb.MinimumVersion && !v.AtLeast(since) {
		errs = append(errs, field.Invalid(path, engine, fmt.Sprintf(
			"requires FoundationDB %s or newer, spec.version is %s: choose another engine or version", since, c.Spec.Version)))
	}
	return errs
}

func (c *FoundationDBCluster) checkMigration(path *field.Path) field.ErrorList {
	d := c.Spec.DatabaseConfiguration
	var errs field.ErrorList
	if d.StorageMigrationType != nil {
		errs = append(errs, oneOf(path.Child("storage_migration_type"), *d.StorageMigrationType,
			append(named[StorageMigrationType](fdb.MigrationTypes()), "")...)...)
	}
	if d.PerpetualStorageWiggle != nil && *d.PerpetualStorageWiggle < 0 {
		errs = append(errs, field.Invalid(path.Child("perpetual_storage_wiggle"), *d.PerpetualStorageWiggle, "must not be negative; 0 turns it off"))
	}
	if l := d.PerpetualStorageWiggleLocality; l != nil && !fdb.ValidWiggleLocality(*l) {
		errs = append(errs, field.Invalid(path.Child("perpetual_storage_wiggle_locality"), *l, "must be key:value, or 0 for no limit"))
	}
	if e := d.PerpetualStorageWiggleEngine; e != nil && *e != "" && *e != StorageEngineNone {
		errs = append(errs, c.checkEngine(path.Child("perpetual_storage_wiggle_engine"), *e)...)
	}
	return errs
}

// checkRegions is strict because FoundationDB is not: recorded on 7.3.79, it
// treats regions that it cannot parse, or whose satellite mode is unknown to
// it, as no regions at all, and drops the existing ones.
func (d DatabaseConfiguration) checkRegions(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if d.UsableRegions > max(1, len(d.Regions)) {
		errs = append(errs, field.Invalid(path.Child("usable_regions"), d.UsableRegions,
			fmt.Sprintf("there %s %s: describe them in regions, or make fewer usable", phrase.Is(len(d.Regions)), phrase.Count(len(d.Regions), "region"))))
	}
	mains := map[string]bool{}
	for i, region := range d.Regions {
		at := path.Child("regions").Index(i)
		errs = append(errs, region.check(at)...)
		for j, dc := range region.Datacenters {
			if dc.Satellite == 0 && mains[dc.ID] {
				errs = append(errs, field.Duplicate(at.Child("datacenters").Index(j).Child("id"), dc.ID))
			}
		}
		for _, dc := range region.Datacenters {
			mains[dc.ID] = mains[dc.ID] || dc.Satellite == 0
		}
	}
	return errs
}

func (r Region) check(path *field.Path) field.ErrorList {
	errs := r.checkDataCenters(path.Child("datacenters"))
	if r.SatelliteRedundancyMode != "" {
		errs = append(errs, oneOf(path.Child("satellite_redundancy_mode"), r.SatelliteRedundancyMode, named[RedundancyMode](fdb.SatelliteModes())...)...)
	}
	if r.SatelliteLogs < -1 {
		errs = append(errs, field.Invalid(path.Child("satellite_logs"), r.SatelliteLogs, "must be -1 or more"))
	}
	return errs
}

func (r Region) checkDataCenters(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen, mains := map[string]bool{}, 0
	for i, dc := range r.Datacenters {
		at := path.Index(i)
		switch {
		case !dataCenterPattern.MatchString(dc.ID):
			errs = append(errs, field.Invalid(at.Child("id"), dc.ID, "must not be empty or have spaces, quotes, backslashes or semicolons"))
		case seen[dc.ID]:
			errs = append(errs, field.Duplicate(at.Child("id"), dc.ID))
		}
		if dc.Satellite != 0 && dc.Satellite != 1 {
			errs = append(errs, field.Invalid(at.Child("satellite"), dc.Satellite, "must be 1 for a satellite, 0 for the main data center"))
		}
		if dc.Satellite == 0 {
			mains++
		}
		seen[dc.ID] = true
	}
	if mains != 1 {
		errs = append(errs, field.Invalid(path, mains, "the region must have exactly one main data center; mark the others as satellites, or give them a region of their own"))
	}
	return errs
}
