package v1beta2

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cluster is a valid cluster of double redundancy that a test changes.
func cluster(given ...func(*FoundationDBCluster)) *FoundationDBCluster {
	c := &FoundationDBCluster{}
	c.Name, c.Namespace, c.Generation = "sample", "default", 3
	c.Spec.Version = "7.3.79"
	for _, change := range given {
		change(c)
	}
	return c
}

func redundancy(m RedundancyMode) func(*FoundationDBCluster) {
	return func(c *FoundationDBCluster) { c.Spec.DatabaseConfiguration.RedundancyMode = m }
}

// twoRegions is a cluster in one of: east and west, main; middle, a satellite
// of both; west is also a satellite of east.
func twoRegions(dc string) func(*FoundationDBCluster) {
	return func(c *FoundationDBCluster) {
		c.Spec.DataCenter = dc
		c.Spec.DatabaseConfiguration.UsableRegions = 2
		c.Spec.DatabaseConfiguration.Regions = []Region{
			{Datacenters: []DataCenter{{ID: "east", Priority: 1}, {ID: "middle", Satellite: 1}, {ID: "west", Satellite: 1}}, SatelliteLogs: 4},
			{Datacenters: []DataCenter{{ID: "west"}, {ID: "middle", Satellite: 1}}, SatelliteLogs: 2},
		}
	}
}

func TestRedundancyModeDeterminesProcessCounts(t *testing.T) {
	type numbers struct{ Tolerance, Domains, Coordinators, Storage, Log, Stateless int }
	tests := map[RedundancyMode]numbers{
		"":                          {1, 2, 3, 3, 4, 9},
		RedundancyModeSingle:        {0, 1, 1, 1, 3, 8},
		RedundancyModeDouble:        {1, 2, 3, 3, 4, 9},
		RedundancyModeTriple:        {2, 3, 5, 5, 5, 10},
		RedundancyModeThreeDataHall: {2, 3, 9, 5, 6, 10},
		"nonsense":                  {0, 1, 1, 1, 3, 8},
	}
	for mode, want := range tests {
		t.Run(string(mode), func(t *testing.T) {
			c := cluster(redundancy(mode))
			counts := c.DesiredProcessCounts()
			got := numbers{
				c.FaultTolerance(), c.MinimumFaultDomains(), c.DesiredCoordinators(),
				counts[ProcessClassStorage], counts[ProcessClassLog], counts[ProcessClassStateless],
			}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if total := c.DesiredProcessGroups(); total != want.Storage+want.Log+want.Stateless {
				t.Errorf("got %d process groups in all", total)
			}
		})
	}
}

func TestSeveralRegionsHaveNineCoordinators(t *testing.T) {
	if got := cluster(twoRegions("east")).DesiredCoordinators(); got != 9 {
		t.Errorf("got %d coordinators, want 9", got)
	}
}

func TestRoleCounts(t *testing.T) {
	tests := map[string]struct {
		given DatabaseConfiguration
		want  RoleCounts
	}{
		"nothing given":                    {want: RoleCounts{Storage: 3, Logs: 3, Proxies: 3, Resolvers: 1, LogRouters: -1, RemoteLogs: -1}},
		"three data halls have four logs":  {DatabaseConfiguration{RedundancyMode: RedundancyModeThreeDataHall}, RoleCounts{Storage: 5, Logs: 4, Proxies: 3, Resolvers: 1, LogRouters: -1, RemoteLogs: -1}},
		"commit proxies bring a GRV proxy": {DatabaseConfiguration{RoleCounts: RoleCounts{CommitProxies: 4}}, RoleCounts{Storage: 3, Logs: 3, CommitProxies: 4, GrvProxies: 1, Resolvers: 1, LogRouters: -1, RemoteLogs: -1}},
		"GRV proxies bring commit proxies": {DatabaseConfiguration{RoleCounts: RoleCounts{GrvProxies: 3, Proxies: 7}}, RoleCounts{Storage: 3, Logs: 3, CommitProxies: 2, GrvProxies: 3, Resolvers: 1, LogRouters: -1, RemoteLogs: -1}},
		"two regions copy the logs":        {DatabaseConfiguration{UsableRegions: 2, RoleCounts: RoleCounts{Logs: 5}}, RoleCounts{Storage: 3, Logs: 5, Proxies: 3, Resolvers: 1, LogRouters: 5, RemoteLogs: 5}},
		"given numbers stay":               {DatabaseConfiguration{RoleCounts: RoleCounts{Storage: 9, Logs: 8, Proxies: 7, Resolvers: 6, LogRouters: 5, RemoteLogs: 4}}, RoleCounts{Storage: 9, Logs: 8, Proxies: 7, Resolvers: 6, LogRouters: 5, RemoteLogs: 4}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster(func(c *FoundationDBCluster) { c.Spec.DatabaseConfiguration = tt.given })
			if diff := cmp.Diff(tt.want, c.RoleCounts()); diff != "" {
				t.Errorf("roles (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDesiredProcessCounts(t *testing.T) {
	type counts = map[ProcessClass]int
	kubernetesCluster := func(index int) func(*FoundationDBCluster) {
		return func(c *FoundationDBCluster) {
			c.Spec.FaultDomain = FoundationDBClusterFaultDomain{Key: FaultDomainKeyKubernetesCluster, Value: "z", ZoneIndex: index}
		}
	}
	tests := map[string]struct {
		given func(*FoundationDBCluster)
		want  counts
	}{
		"given counts stay and get no spares": {
			func(c *FoundationDBCluster) { c.Spec.ProcessCounts = ProcessCounts{Storage: 10, Log: 7, Stateless: 2} },
			counts{"storage": 10, "log": 7, "stateless": 2},
		},
		"negative counts mean none": {
			func(c *FoundationDBCluster) {
				c.Spec.ProcessCounts = ProcessCounts{Storage: -1, Log: -1, Stateless: -1}
			},
			counts{},
		},
		"role counts are the start": {
			func(c *FoundationDBCluster) {
				c.Spec.DatabaseConfiguration.RoleCounts = RoleCounts{Storage: 7, Logs: 5, Proxies: 4, Resolvers: 2}
			},
			counts{"storage": 7, "log": 6, "stateless": 4 + 1 + 1 + 2 + 1 + 1 + 1},
		},
		"separate proxies count one by one": {
			func(c *FoundationDBCluster) { c.Spec.DatabaseConfiguration.CommitProxies = 4 },
			counts{"storage": 3, "log": 4, "stateless": 4 + 1 + 5 + 1},
		},
		"a class of its own takes a role out": {
			func(c *FoundationDBCluster) {
				c.Spec.ProcessCounts = ProcessCounts{ClusterController: 1, Resolution: 3, Proxy: 2}
			},
			counts{"storage": 3, "log": 4, "stateless": 3 + 1, "cluster_controller": 1, "resolution": 3, "proxy": 2},
		},
		"a class for combined proxies takes no separate ones out": {
			func(c *FoundationDBCluster) {
				c.Spec.DatabaseConfiguration.GrvProxies = 1
				c.Spec.ProcessCounts.Proxy = 5
			},
			counts{"storage": 3, "log": 4, "stateless": 3 + 5 + 1, "proxy": 5},
		},
		"stateless is none when everything has its own class": {
			func(c *FoundationDBCluster) {
				c.Spec.ProcessCounts = ProcessCounts{ClusterController: 1, Resolution: 1, Proxy: 1, Master: 1, Ratekeeper: 1, DataDistributor: 1}
			},
			counts{"storage": 3, "log": 4, "cluster_controller": 1, "resolution": 1, "proxy": 1, "master": 1, "ratekeeper": 1, "data_distributor": 1},
		},
		"log routers can need more stateless processes than roles do": {
			func(c *FoundationDBCluster) { c.Spec.DatabaseConfiguration.LogRouters = 20 },
			counts{"storage": 3, "log": 4, "stateless": 21},
		},
		"remote logs can need more logs": {
			func(c *FoundationDBCluster) { c.Spec.DatabaseConfiguration.RemoteLogs = 9 },
			counts{"storage": 3, "log": 10, "stateless": 9},
		},
		"the main data center of a region": {twoRegions("east"), counts{"storage": 3, "log": 4, "stateless": 9}},
		"main and satellite at once adds satellite logs": {
			twoRegions("west"), counts{"storage": 3, "log": 3 + 4 + 1, "stateless": 9},
		},
		"a satellite has logs only, by the region that needs most": {twoRegions("middle"), counts{"log": 5}},
		"a satellite with a given number of logs still has logs only": {
			func(c *FoundationDBCluster) {
				twoRegions("middle")(c)
				c.Spec.ProcessCounts.Log = 8
			},
			counts{"log": 8},
		},
		"a satellite has what else is given": {
			func(c *FoundationDBCluster) {
				twoRegions("middle")(c)
				c.Spec.ProcessCounts.Stateless = 2
			},
			counts{"log": 5, "stateless": 2},
		},
		"the first of three zones takes remainders":  {kubernetesCluster(0), counts{"storage": 1, "log": 2, "stateless": 3}},
		"the second of three zones takes none of 4":  {kubernetesCluster(1), counts{"storage": 1, "log": 1, "stateless": 3}},
		"an index past the count takes no remainder": {kubernetesCluster(3), counts{"storage": 1, "log": 1, "stateless": 3}},
		"given counts are not divided": {
			func(c *FoundationDBCluster) {
				kubernetesCluster(0)(c)
				c.Spec.ProcessCounts.Storage = 9
			},
			counts{"storage": 9, "log": 2, "stateless": 3},
		},
		"more zones than processes leave some without": {
			func(c *FoundationDBCluster) {
				kubernetesCluster(3)(c)
				c.Spec.FaultDomain.ZoneCount = 5
			},
			counts{"log": 1, "stateless": 2},
		},
		"a negative zone index derives nothing, whatever the key": {
			func(c *FoundationDBCluster) {
				c.Spec.FaultDomain.ZoneIndex = -1
				c.Spec.ProcessCounts.Coordinator = 3
			},
			counts{"coordinator": 3},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster(tt.given)
			before := c.DeepCopy()
			if diff := cmp.Diff(tt.want, c.DesiredProcessCounts()); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, c); diff != "" {
				t.Errorf("counting changed the cluster:\n%s", diff)
			}
		})
	}
}

func TestEveryProcessClassHasACount(t *testing.T) {
	byClass := ProcessCounts{}.ByClass()
	for _, class := range ProcessClasses() {
		if _, ok := byClass[class]; !ok {
			t.Errorf("class %s cannot be counted", class)
		}
	}
	if len(byClass) != len(ProcessClasses()) {
		t.Errorf("%d counts for %d classes", len(byClass), len(ProcessClasses()))
	}
}
