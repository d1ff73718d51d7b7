package objects

import (
	"errors"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// DesiredConfiguration is the desired configuration of the database: the spec with
// every default filled in. Its storage role count is not part of it, because a
// database is never configured with one.
func DesiredConfiguration(c *v1beta2.FoundationDBCluster) fdb.Configuration {
	desired := c.Spec.DatabaseConfiguration
	desired.RoleCounts = c.RoleCounts()
	f := ConfigurationFromResource(desired)
	return f.Normalized(f, fdb.Version{})
}

// DesiredResourceConfiguration is DesiredConfiguration in the form of the custom resource.
func DesiredResourceConfiguration(c *v1beta2.FoundationDBCluster) v1beta2.DatabaseConfiguration {
	return ConfigurationForResource(DesiredConfiguration(c))
}

// ConfigurationSeen is the configuration that a database of this version reports, in the form
// of the status: comparable with the desired one, and without what the spec does not set. A
// redundancy mode that the CRD does not have, as three_data_hall_fallback, is omitted, and an
// engine has the name of the CRD: the API server would reject the whole status.
func ConfigurationSeen(c *v1beta2.FoundationDBCluster, reported fdb.Configuration, v fdb.Version) v1beta2.DatabaseConfiguration {
	d := ConfigurationForResource(reported.Normalized(DesiredConfiguration(c), v))
	if _, known := fdb.MinimumFaultDomains(string(d.RedundancyMode)); !known {
		d.RedundancyMode = ""
	}
	if d.StorageEngine == fdb.EngineMemoryRadixTree {
		d.StorageEngine = v1beta2.StorageEngineMemoryRadixTree
	}
	return d
}

// ConfigurationFromResource converts the form of the custom resource. Exclusions and
// the storage role count are omitted.
func ConfigurationFromResource(d v1beta2.DatabaseConfiguration) fdb.Configuration {
	f := fdb.Configuration{
		RedundancyMode: string(d.RedundancyMode),
		StorageEngine:  string(d.StorageEngine),
		UsableRegions:  d.UsableRegions,
		Logs:           d.Logs,
		Proxies:        d.Proxies,
		CommitProxies:  d.CommitProxies,
		GrvProxies:     d.GrvProxies,
		Resolvers:      d.Resolvers,
		LogRouters:     d.LogRouters,
		RemoteLogs:     d.RemoteLogs,
		LogSpill:       d.LogSpill,
		LogVersion:     d.LogVersion,

		StorageMigrationType:           retyped[string](d.StorageMigrationType),
		PerpetualStorageWiggle:         copied(d.PerpetualStorageWiggle),
		PerpetualStorageWiggleLocality: copied(d.PerpetualStorageWiggleLocality),
		PerpetualStorageWiggleEngine:   retyped[string](d.PerpetualStorageWiggleEngine),
	}
	for _, r := range d.Regions {
		region := fdb.Region{SatelliteLogs: r.SatelliteLogs, SatelliteRedundancyMode: string(r.SatelliteRedundancyMode)}
		for _, dc := range r.Datacenters {
			region.DataCenters = append(region.DataCenters, fdb.DataCenter(dc))
		}
		f.Regions = append(f.Regions, region)
	}
	return f
}

// ConfigurationForResource converts to the form of the custom resource. What a database
// only reports is omitted.
func ConfigurationForResource(f fdb.Configuration) v1beta2.DatabaseConfiguration {
	d := v1beta2.DatabaseConfiguration{
		RedundancyMode: v1beta2.RedundancyMode(f.RedundancyMode),
		StorageEngine:  v1beta2.StorageEngine(f.StorageEngine),
		UsableRegions:  f.UsableRegions,
		RoleCounts: v1beta2.RoleCounts{
			Logs:          f.Logs,
			Proxies:       f.Proxies,
			CommitProxies: f.CommitProxies,
			GrvProxies:    f.GrvProxies,
			Resolvers:     f.Resolvers,
			LogRouters:    f.LogRouters,
			RemoteLogs:    f.RemoteLogs,
		},
		VersionFlags: v1beta2.VersionFlags{LogSpill: f.LogSpill, LogVersion: f.LogVersion},

		StorageMigrationType:           retyped[v1beta2.StorageMigrationType](f.StorageMigrationType),
		PerpetualStorageWiggle:         copied(f.PerpetualStorageWiggle),
		PerpetualStorageWiggleLocality: copied(f.PerpetualStorageWiggleLocality),
		PerpetualStorageWiggleEngine:   retyped[v1beta2.StorageEngine](f.PerpetualStorageWiggleEngine),
	}
	for _, r := range f.Regions {
		region := v1beta2.Region{SatelliteLogs: r.SatelliteLogs, SatelliteRedundancyMode: v1beta2.RedundancyMode(r.SatelliteRedundancyMode)}
		for _, dc := range r.DataCenters {
			region.Datacenters = append(region.Datacenters, v1beta2.DataCenter(dc))
		}
		d.Regions = append(d.Regions, region)
	}
	return d
}

// copied is a pointer to a copy of what p points to.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// retyped is copied into another string type.
func retyped[To, From ~string](p *From) *To {
	if p == nil {
		return nil
	}
	c := To(*p)
	return &c
}

// passValidation are checks of a spec that only apply to passes with certain stages: other
// passes, and all read-only commands, accept such a spec.
var passValidation = []struct {
	stage    plan.StageName
	validate func(*v1beta2.FoundationDBCluster) error
}{
	{plan.StageUpdateDatabaseConfiguration, (*v1beta2.FoundationDBCluster).ValidateRegions},
	{plan.StageUpdateConfigMap, (*v1beta2.FoundationDBCluster).ValidateKnobs},
	{plan.StageUpdateConfigMap, ValidateOwned},
}

// ValidateForStages returns the errors for which a pass with these stages refuses a spec, beside those of Validate.
func ValidateForStages(c *v1beta2.FoundationDBCluster, stages []plan.Stage) error {
	var errs []error
	for _, v := range passValidation {
		if slices.ContainsFunc(stages, func(s plan.Stage) bool { return s.Name == v.stage }) {
			errs = append(errs, v.validate(c))
		}
	}
	return errors.Join(errs...)
}

// ValidateForPass returns the errors for which a whole pass refuses a spec, beside those of Validate.
func ValidateForPass(c *v1beta2.FoundationDBCluster) error {
	var errs []error
	for _, v := range passValidation {
		errs = append(errs, v.validate(c))
	}
	return errors.Join(errs...)
}
