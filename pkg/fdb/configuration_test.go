package fdb

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// desired is an ordinary desired configuration.
func desired() Configuration {
	return Configuration{
		RedundancyMode: "double", StorageEngine: "ssd-2", UsableRegions: 1,
		Logs: 3, Proxies: 3, Resolvers: 1, LogRouters: -1, RemoteLogs: -1,
	}
}

func twoRegions() []Region {
	return []Region{
		{
			DataCenters:   []DataCenter{{ID: "dc1", Priority: 1}, {ID: "dc3", Priority: 1, Satellite: 1}},
			SatelliteLogs: 2, SatelliteRedundancyMode: "one_satellite_double",
		},
		{DataCenters: []DataCenter{{ID: "dc2", Priority: 0}}},
	}
}

func TestConfigureTokens(t *testing.T) {
	const base = "double ssd-2 usable_regions=1 logs=3 resolvers=1 log_routers=-1 remote_logs=-1 "
	cases := map[string]struct {
		given func(*Configuration)
		want  []string
	}{
		"ordinary": {
			func(*Configuration) {},
			strings.Fields(base + "proxies=3 regions=[]"),
		},
		"proxies apart": {
			func(c *Configuration) { c.Proxies, c.CommitProxies, c.GrvProxies = 0, 2, 1 },
			strings.Fields(base + "commit_proxies=2 grv_proxies=1 regions=[]"),
		},
		"log flags": {
			func(c *Configuration) { c.LogSpill, c.LogVersion = 2, 6 },
			strings.Fields(base + "proxies=3 log_spill:=2 log_version:=6 regions=[]"),
		},
		"migration and wiggle": {
			func(c *Configuration) {
				c.StorageMigrationType, c.PerpetualStorageWiggle = new("gradual"), new(1)
				c.PerpetualStorageWiggleLocality, c.PerpetualStorageWiggleEngine = new("zoneid:a"), new("none")
			},
			strings.Fields(base + "proxies=3 regions=[] storage_migration_type=gradual perpetual_storage_wiggle=1 " +
				"perpetual_storage_wiggle_locality=zoneid:a perpetual_storage_wiggle_engine=none"),
		},
		"regions are one word, priority 0 included": {
			func(c *Configuration) { c.Regions, c.UsableRegions = twoRegions(), 2 },
			append(strings.Fields(strings.Replace(base, "regions=1", "regions=2", 1)+"proxies=3"),
				`regions=[{"datacenters":[{"id":"dc1","priority":1},{"id":"dc3","priority":1,"satellite":1}],`+
					`"satellite_logs":2,"satellite_redundancy_mode":"one_satellite_double"},`+
					`{"datacenters":[{"id":"dc2","priority":0}]}]`),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			configuration := desired()
			c.given(&configuration)
			got, err := configuration.Tokens()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConfigureTokensRefuseInvalidConfigurations(t *testing.T) {
	cases := map[string]struct {
		given func(*Configuration)
		says  string
	}{
		"an injected command":        {func(c *Configuration) { c.StorageEngine = "ssd-2; kill all" }, "storage engine"},
		"an unknown engine":          {func(c *Configuration) { c.StorageEngine = "custom" }, "storage engine"},
		"no redundancy":              {func(c *Configuration) { c.RedundancyMode = "" }, "redundancy mode"},
		"a fallback mode":            {func(c *Configuration) { c.RedundancyMode = "three_data_hall_fallback" }, "redundancy mode"},
		"no logs":                    {func(c *Configuration) { c.Logs = 0 }, "logs 0"},
		"one proxy":                  {func(c *Configuration) { c.Proxies = 1 }, "proxies 1"},
		"commit proxies only":        {func(c *Configuration) { c.CommitProxies = 2 }, "grv_proxies 0"},
		"more usable than there are": {func(c *Configuration) { c.UsableRegions = 2 }, "there are 0 regions"},
		"an unknown satellite mode": {func(c *Configuration) {
			c.Regions = twoRegions()
			c.Regions[0].SatelliteRedundancyMode = "bogus"
		}, "satellite redundancy mode"},
		"a region of satellites": {func(c *Configuration) {
			c.Regions = []Region{{DataCenters: []DataCenter{{ID: "dc3", Satellite: 1}}}}
		}, "0 main data centers"},
		"two regions of one data center": {func(c *Configuration) {
			c.Regions = []Region{twoRegions()[1], twoRegions()[1]}
		}, "main data center of another region"},
		"three regions": {func(c *Configuration) {
			c.Regions = append(twoRegions(), Region{DataCenters: []DataCenter{{ID: "dc4"}}})
		}, "3 regions: must be at most 2"},
		"regions of which none may serve": {func(c *Configuration) {
			c.Regions = []Region{{DataCenters: []DataCenter{{ID: "dc1", Priority: -1}}}}
		}, "none may serve"},
		"a quote in a data center": {func(c *Configuration) {
			c.Regions = []Region{{DataCenters: []DataCenter{{ID: `dc"1`}}}}
		}, "quote"},
		"a data center without a name": {func(c *Configuration) {
			c.Regions = []Region{{DataCenters: []DataCenter{{}}}}
		}, "must have a name"},
		"an unknown migration": {func(c *Configuration) { c.StorageMigrationType = new("fast") }, "migration type"},
		"a wiggle locality with a blank": {
			func(c *Configuration) { c.PerpetualStorageWiggleLocality = new("zoneid:a b") }, "wiggle locality",
		},
		"an unknown wiggle engine": {
			func(c *Configuration) { c.PerpetualStorageWiggleEngine = new("x\ny") }, "wiggle engine",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			configuration := desired()
			c.given(&configuration)
			tokens, err := configuration.Tokens()
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v and error %v, want an error with %q", tokens, err, c.says)
			}
		})
	}
}

func TestDatabaseConfigurationDifferences(t *testing.T) {
	cases := map[string]struct {
		desired, current func(*Configuration)
		version          string
		want             []Difference
	}{
		"the recorded database reports more than was configured": {
			current: func(c *Configuration) { *c = *recorded(t, "05-healthy").Cluster.Configuration },
		},
		"a role count": {
			current: func(c *Configuration) { c.Logs = 4 },
			want:    []Difference{{"logs", "4", "3"}},
		},
		"engine aliases": {
			desired: func(c *Configuration) { c.StorageEngine = "ssd" },
		},
		"an engine that a version renamed": {
			desired: func(c *Configuration) { c.StorageEngine = "ssd-redwood-1-experimental" },
			current: func(c *Configuration) { c.StorageEngine = "ssd-redwood-1" },
			version: "7.3.79",
		},
		"an engine that the version did not rename yet": {
			desired: func(c *Configuration) { c.StorageEngine = "ssd-redwood-1-experimental" },
			current: func(c *Configuration) { c.StorageEngine = "ssd-redwood-1" },
			version: "7.1.67",
			want:    []Difference{{"storage_engine", "ssd-redwood-1", "ssd-redwood-1-experimental"}},
		},
		"absent counts of remote logs and routers": {
			current: func(c *Configuration) { c.LogRouters, c.RemoteLogs = 0, 0 },
		},
		"a wiggle that is not configured": {
			current: func(c *Configuration) { c.PerpetualStorageWiggle, c.LogSpill = new(1), 2 },
		},
		"a wiggle that is configured and not reported": {
			desired: func(c *Configuration) { c.PerpetualStorageWiggle = new(0) },
			want:    []Difference{{"perpetual_storage_wiggle", "unset", "0"}},
		},
		"proxies asked apart": {
			desired: func(c *Configuration) { c.Proxies, c.CommitProxies, c.GrvProxies = 0, 2, 1 },
			current: func(c *Configuration) { c.CommitProxies, c.GrvProxies = 2, 1 },
		},
		"regions in another order": {
			desired: func(c *Configuration) { c.Regions = twoRegions() },
			current: func(c *Configuration) {
				c.Regions = twoRegions()
				slices.Reverse(c.Regions)
				slices.Reverse(c.Regions[1].DataCenters)
			},
		},
		"custom replication has no redundancy mode": {
			desired: func(c *Configuration) { c.RedundancyMode = "triple" },
			current: func(c *Configuration) { c.RedundancyMode = "" },
			want:    []Difference{{"redundancy_mode", "double", "triple"}},
		},
		"regions gone": {
			desired: func(c *Configuration) { c.Regions = twoRegions()[1:] },
			want:    []Difference{{"regions", "[]", `[{"datacenters":[{"id":"dc2","priority":0}]}]`}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want, current := desired(), desired()
			for given, to := range map[*Configuration]func(*Configuration){&want: c.desired, &current: c.current} {
				if to != nil {
					to(given)
				}
			}
			var version Version
			if c.version != "" {
				version = v(c.version)
			}
			if diff := cmp.Diff(c.want, current.Differences(want, version)); diff != "" {
				t.Error(diff)
			}
			if got := current.Equal(want, version); got != (len(c.want) == 0) {
				t.Errorf("equal: got %v", got)
			}
		})
	}
}

func TestNormalizingDoesNotModifyTheRegions(t *testing.T) {
	c := desired()
	c.Regions = twoRegions()
	slices.Reverse(c.Regions)
	before := slices.Clone(c.Regions)
	c.Normalized(c, Version{})
	if diff := cmp.Diff(before, c.Regions); diff != "" {
		t.Error(diff)
	}
}

func TestRedundancyModeDeterminesFaultDomainsAndCoordinators(t *testing.T) {
	cases := map[string]struct {
		mode                                  string
		tolerance, domains, coordinators, two int
	}{
		"single":          {"single", 0, 1, 1, 9},
		"double":          {"double", 1, 2, 3, 9},
		"unset":           {"", 1, 2, 3, 9},
		"triple":          {"triple", 2, 3, 5, 9},
		"three data hall": {"three_data_hall", 2, 3, 9, 9},
		"anything else":   {"nonsense", 0, 0, 1, 9},
		"a fallback":      {"three_data_hall_fallback", 0, 0, 1, 9},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			domains, known := MinimumFaultDomains(c.mode)
			if known != (c.domains > 0) {
				t.Errorf("known: %t", known)
			}
			got := []int{FaultTolerance(c.mode), domains, DesiredCoordinators(c.mode, 1), DesiredCoordinators(c.mode, 2)}
			if diff := cmp.Diff([]int{c.tolerance, c.domains, c.coordinators, c.two}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReplicasOfADatabaseConfiguration(t *testing.T) {
	cases := map[string]struct {
		given string
		n     int
		known bool
	}{
		"by its mode":                      {`{"redundancy_mode": "triple"}`, 3, true},
		"custom policies tell the number":  {`{"storage_replicas": 4, "log_replicas": 3}`, 4, true},
		"a mode that cannot be configured": {`{"redundancy_mode": "three_datacenter"}`, 0, false},
		"a number counts more than a mode": {`{"redundancy_mode": "three_datacenter", "storage_replicas": 6}`, 6, true},
		"neither of them":                  {`{}`, 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			status, err := ParseStatus([]byte(`{"client": {}, "cluster": {"configuration": ` + c.given + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			if n, known := status.Cluster.Configuration.Replicas(); n != c.n || known != c.known {
				t.Errorf("%d, known %t; want %d, %t", n, known, c.n, c.known)
			}
		})
	}
}
