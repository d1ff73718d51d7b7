package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func TestDesiredConfiguration(t *testing.T) {
	configuration := func(d v1beta2.DatabaseConfiguration) given {
		return func(c *v1beta2.FoundationDBCluster) { c.Spec.DatabaseConfiguration = d }
	}
	tests := map[string]struct {
		given []given
		want  fdb.Configuration
	}{
		"everything by default": {
			want: fdb.Configuration{
				RedundancyMode: "double", StorageEngine: "ssd-2", UsableRegions: 1,
				Logs: 3, Proxies: 3, Resolvers: 1, LogRouters: -1, RemoteLogs: -1,
			},
		},
		"old engine names, separate proxies, storage settings": {
			given: []given{configuration(v1beta2.DatabaseConfiguration{
				RedundancyMode: "triple", StorageEngine: "memory",
				RoleCounts:             v1beta2.RoleCounts{Storage: 7, GrvProxies: 4, Logs: 8},
				VersionFlags:           v1beta2.VersionFlags{LogSpill: 3},
				StorageMigrationType:   new(v1beta2.StorageMigrationGradual),
				PerpetualStorageWiggle: new(1),
			})},
			want: fdb.Configuration{
				RedundancyMode: "triple", StorageEngine: "memory-2", UsableRegions: 1,
				Logs: 8, CommitProxies: 2, GrvProxies: 4, Resolvers: 1, LogRouters: -1, RemoteLogs: -1, LogSpill: 3,
				StorageMigrationType: new("gradual"), PerpetualStorageWiggle: new(1),
			},
		},
		"two regions, sorted": {
			given: []given{configuration(v1beta2.DatabaseConfiguration{
				UsableRegions: 2,
				Regions: []v1beta2.Region{
					{Datacenters: []v1beta2.DataCenter{{ID: "dc3"}}},
					{
						Datacenters:   []v1beta2.DataCenter{{ID: "dc2", Priority: 1, Satellite: 1}, {ID: "dc1", Priority: 1}},
						SatelliteLogs: 4, SatelliteRedundancyMode: "one_satellite_single",
					},
				},
			})},
			want: fdb.Configuration{
				RedundancyMode: "double", StorageEngine: "ssd-2", UsableRegions: 2,
				Logs: 3, Proxies: 3, Resolvers: 1, LogRouters: 3, RemoteLogs: 3,
				Regions: []fdb.Region{
					{
						DataCenters:   []fdb.DataCenter{{ID: "dc1", Priority: 1}, {ID: "dc2", Priority: 1, Satellite: 1}},
						SatelliteLogs: 4, SatelliteRedundancyMode: "one_satellite_single",
					},
					{DataCenters: []fdb.DataCenter{{ID: "dc3"}}},
				},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := sample(t, tt.given...)
			if diff := cmp.Diff(tt.want, DesiredConfiguration(c)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, ConfigurationFromResource(DesiredResourceConfiguration(c))); diff != "" {
				t.Errorf("through the record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfigurationSeenOmitsWhatTheSpecDoesNotSet(t *testing.T) {
	c := sample(t)
	reported := fdb.Configuration{
		RedundancyMode: "double", StorageEngine: "ssd-2", UsableRegions: 1, Logs: 3, Proxies: 3, Resolvers: 1,
		GrvProxies: 1, CommitProxies: 2, LogSpill: 2, PerpetualStorageWiggle: new(0), StorageMigrationType: new("disabled"),
		ExcludedServers: []fdb.ExcludedServer{{Address: "10.1.0.1"}},
	}
	if diff := cmp.Diff(DesiredResourceConfiguration(c), ConfigurationSeen(c, reported, fdb.Version{Major: 7, Minor: 3, Patch: 79})); diff != "" {
		t.Errorf("(-wanted +seen):\n%s", diff)
	}
}

// The API server rejects the whole status if one field has a value that the CRD does not have.
func TestTheObservedConfigurationHasOnlyValuesOfTheCRD(t *testing.T) {
	c := &v1beta2.FoundationDBCluster{}
	c.Spec.Version = "7.4.7"
	for name, tc := range map[string]struct {
		reported fdb.Configuration
		mode     v1beta2.RedundancyMode
		engine   v1beta2.StorageEngine
	}{
		"a mode of the CRD":       {fdb.Configuration{RedundancyMode: "triple", StorageEngine: "ssd-2"}, "triple", "ssd-2"},
		"a fallback mode":         {fdb.Configuration{RedundancyMode: "three_data_hall_fallback", StorageEngine: "ssd-2"}, "", "ssd-2"},
		"a new name of an engine": {fdb.Configuration{RedundancyMode: "double", StorageEngine: "memory-radixtree"}, "double", "memory-radixtree-beta"},
	} {
		t.Run(name, func(t *testing.T) {
			d := ConfigurationSeen(c, tc.reported, fdb.Version{Major: 7, Minor: 4, Patch: 7})
			if d.RedundancyMode != tc.mode || d.StorageEngine != tc.engine {
				t.Errorf("%s, %s", d.RedundancyMode, d.StorageEngine)
			}
		})
	}
}
