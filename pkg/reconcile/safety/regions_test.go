package safety

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// reportingIn is a database whose data centers have so many zones each, with storage
// and log processes in all of them.
func reportingIn(zones map[string]int) plan.DatabaseFacts {
	all := reporting(0)
	for dc, n := range zones {
		for id, p := range reporting(n, "storage", "log").Status.Cluster.Processes {
			p.Locality[fdb.LocalityDCID] = dc
			all.Status.Cluster.Processes[dc+id] = p
		}
	}
	return all
}

func TestEachRegionNeedsItsOwnFaultDomains(t *testing.T) {
	region := func(dc string, priority int, mode string, satellites ...string) fdb.Region {
		r := fdb.Region{DataCenters: []fdb.DataCenter{{ID: dc, Priority: priority}}, SatelliteRedundancyMode: mode}
		for _, s := range satellites {
			r.DataCenters = append(r.DataCenters, fdb.DataCenter{ID: s, Satellite: 1})
		}
		return r
	}
	tests := map[string]struct {
		zones   map[string]int
		regions []fdb.Region
		ok      bool
		says    string
	}{
		"a region needs the fault domains in its own data center": {
			map[string]int{"dc1": 1, "dc2": 5}, []fdb.Region{region("dc1", 1, "")}, false, "region dc1: storage processes in 1 fault domain, 2 required",
		},
		"each region needs them": {
			map[string]int{"dc1": 2, "dc2": 1}, []fdb.Region{region("dc1", 1, ""), region("dc2", -1, "")}, false, "region dc2: storage processes in 1",
		},
		"two regions hold": {
			map[string]int{"dc1": 2, "dc2": 2}, []fdb.Region{region("dc1", 1, ""), region("dc2", 0, "")}, true, "region dc2: log processes in 2 fault domains",
		},
		"a satellite that does not report does not hold": {
			map[string]int{"dc1": 2}, []fdb.Region{region("dc1", 1, "one_satellite_single", "dc3")}, false, "satellites of region dc1: log processes in 0",
		},
		"one satellite of several is enough for one": {
			map[string]int{"dc1": 2, "dc4": 2}, []fdb.Region{region("dc1", 1, "one_satellite_double", "dc3", "dc4")}, true, "satellites of region dc1: log processes in 2",
		},
		"two half satellites are not one": {
			map[string]int{"dc1": 2, "dc3": 1, "dc4": 1}, []fdb.Region{region("dc1", 1, "one_satellite_double", "dc3", "dc4")}, false, "in 1 fault domain, 2 required",
		},
		"a mode of two satellites needs both": {
			map[string]int{"dc1": 2, "dc3": 2}, []fdb.Region{region("dc1", 1, "two_satellite_safe", "dc3", "dc4")}, false, "in 0 fault domains, 2 required",
		},
		"a mode of two satellites is not held by one": {
			map[string]int{"dc1": 2, "dc3": 4}, []fdb.Region{region("dc1", 1, "two_satellite_fast", "dc3")}, false, "in 0 fault domains",
		},
		"a mode without satellites is held by none": {
			map[string]int{"dc1": 2}, []fdb.Region{region("dc1", 1, "one_satellite_single")}, false, "in 0 fault domains",
		},
		"a region that may not serve uses no satellites": {
			map[string]int{"dc1": 2, "dc2": 2}, []fdb.Region{region("dc1", 1, ""), region("dc2", -1, "one_satellite_double", "dc3")}, true, "region dc2",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := CanHold(reportingIn(tc.zones), fdb.Configuration{RedundancyMode: fdb.RedundancyDouble, Regions: tc.regions})
			if c.OK != tc.ok || !strings.Contains(c.Evidence, tc.says) {
				t.Errorf("got %+v, want %t, %q", c, tc.ok, tc.says)
			}
		})
	}
}

func TestRegionChecksFailForUnreportedRegions(t *testing.T) {
	unresponsive := plan.DatabaseFacts{Unreachable: "timed out"}
	two := fdb.Configuration{Regions: []fdb.Region{{DataCenters: []fdb.DataCenter{{ID: "dc1"}}}}}
	for name, c := range map[string]plan.Check{
		"replication":                        RegionsReplicated(unresponsive),
		"replication of an empty document":   RegionsReplicated(reporting(2, "storage")),
		"who serves":                         PrimaryServes(unresponsive, two, "dc1"),
		"who serves, by an empty document":   PrimaryServes(reporting(2, "storage"), two, ""),
		"where storage is":                   StorageInRegions(unresponsive, two),
		"storage without a data center name": StorageInRegions(eachProcess(reporting(1, "storage"), func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: fdb.RoleStorage}} }), two),
	} {
		if c.OK || c.Evidence == "" {
			t.Errorf("%s: got %+v", name, c)
		}
	}
}

// What is refused of a new cluster must never stop one that exists, whatever its status has lost.
func TestAClusterHasBegunOnceItsStatusHasAnythingOfADatabase(t *testing.T) {
	for name, tc := range map[string]struct {
		status v1beta2.FoundationDBClusterStatus
		want   bool
	}{
		"an empty status":     {want: true},
		"a process group":     {status: v1beta2.FoundationDBClusterStatus{ProcessGroups: []*v1beta2.ProcessGroupStatus{{ProcessGroupID: "log-1"}}}},
		"a configuration":     {status: v1beta2.FoundationDBClusterStatus{Configured: true}},
		"a connection string": {status: v1beta2.FoundationDBClusterStatus{ConnectionString: "a:b@10.0.0.1:4501"}},
	} {
		if got := Unbegun(&v1beta2.FoundationDBCluster{Status: tc.status}); got != tc.want {
			t.Errorf("%s: unbegun %t", name, got)
		}
	}
}
