package safety

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestTheRegionReplicationCheckReportsWhyItFails(t *testing.T) {
	tracker := func(primary bool, edit func(*fdb.DataState)) fdb.TeamTracker {
		state := fdb.DataState{Name: "healthy", Healthy: new(true), MinReplicasRemaining: new(2)}
		edit(&state)
		return fdb.TeamTracker{Primary: primary, State: state}
	}
	same := func(*fdb.DataState) {}
	second := func(edit func(*fdb.DataState)) func(*fdb.Status) {
		return func(s *fdb.Status) {
			s.Cluster.Data.TeamTrackers = []fdb.TeamTracker{tracker(true, same), tracker(false, edit)}
		}
	}
	only := func(primary bool) func(*fdb.Status) {
		return func(s *fdb.Status) { s.Cluster.Data.TeamTrackers = []fdb.TeamTracker{tracker(primary, same)} }
	}
	tests := map[string]struct {
		given    func(*fdb.Status)
		ok       bool
		evidence string
	}{
		"both have one":             {func(*fdb.Status) {}, true, "both regions are fully replicated"},
		"the second is not shown":   {only(true), false, "data distribution does not show the second region yet"},
		"the primary is not shown":  {only(false), false, "data distribution does not show the primary region yet"},
		"no data is shown":          {func(s *fdb.Status) { s.Cluster.Data = nil }, false, "data distribution does not show the primary region yet"},
		"the second is filled":      {second(func(d *fdb.DataState) { d.Name = populating }), false, "the second region is still being populated"},
		"the second is unhealthy":   {second(func(d *fdb.DataState) { d.Name, d.Healthy = "healing", new(bool) }), false, "the second region is not healthy: its state is healing"},
		"its health is unknown":     {second(func(d *fdb.DataState) { d.Name, d.Healthy = "", nil }), false, "the second region is not healthy: its state is unknown"},
		"it has too few replicas":   {second(func(d *fdb.DataState) { d.MinReplicasRemaining = new(1) }), false, "the second region has too few replicas of some data, 2 required"},
		"its replicas are unknown":  {second(func(d *fdb.DataState) { d.MinReplicasRemaining = nil }), false, "the second region has too few replicas of some data, 2 required"},
		"the primary has too few":   {func(s *fdb.Status) { s.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1) }, false, "the primary region has too few replicas of some data, 2 required"},
		"not all is replicated":     {func(s *fdb.Status) { s.Cluster.FullReplication = new(bool) }, false, "the data is not fully replicated"},
		"replication is unknown":    {func(s *fdb.Status) { s.Cluster.FullReplication = nil }, false, "the status document does not report the replication of the data"},
		"roles are unknown":         {func(s *fdb.Status) { s.Cluster.Messages = []fdb.Message{{Name: fdb.MessageLogServersError}} }, false, "the status document does not report the replication of the data"},
		"the database is down":      {func(s *fdb.Status) { s.Client.DatabaseStatus.Available = false }, false, "the database is unavailable"},
		"without a configuration":   {func(s *fdb.Status) { s.Cluster.Configuration = nil }, false, "the number of replicas of each region is unknown: the status document has no configuration"},
		"with an unknown one":       {func(s *fdb.Status) { s.Cluster.Configuration.RedundancyMode = "octuple" }, false, "the number of replicas of each region is unknown for the redundancy mode octuple"},
		"without a redundancy mode": {func(s *fdb.Status) { s.Cluster.Configuration.RedundancyMode = "" }, false, "the number of replicas of each region is unknown for the redundancy mode unknown"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := draining(t).Database
			d.Status.Cluster.FullReplication = new(true)
			second(same)(d.Status)
			tc.given(d.Status)
			if c := RegionsReplicated(d); c.OK != tc.ok || c.Evidence != tc.evidence {
				t.Errorf("%t, %q; want %t, %q", c.OK, c.Evidence, tc.ok, tc.evidence)
			}
		})
	}
}

func TestPrimaryServesRequiresTheHighestPriorityRegion(t *testing.T) {
	region := func(dc string, priority int) fdb.Region {
		return fdb.Region{DataCenters: []fdb.DataCenter{{ID: dc + "-sat", Priority: 9, Satellite: 1}, {ID: dc, Priority: priority}}}
	}
	two := fdb.Configuration{Regions: []fdb.Region{region("dc1", 0), region("dc2", 1)}}
	equal := fdb.Configuration{Regions: []fdb.Region{region("dc1", 1), region("dc2", 1)}}
	tests := map[string]struct {
		want     fdb.Configuration
		home     string
		ok       bool
		evidence string
	}{
		"it does":              {two, "dc2", true, "dc2 serves"},
		"the other does":       {two, "dc1", false, "dc1 serves, dc2 has the highest priority"},
		"the second of equals": {equal, "dc2", true, "dc2 serves"},
		"a satellite":          {two, "dc2-sat", false, "dc2-sat serves, dc2 has the highest priority"},
		"an unknown one":       {two, "", false, "the status document does not report which region serves"},
	}
	for name, tc := range tests {
		if c := PrimaryServes(healthy(t), tc.want, tc.home); c.OK != tc.ok || c.Evidence != tc.evidence {
			t.Errorf("%s: %t, %q; want %t, %q", name, c.OK, c.Evidence, tc.ok, tc.evidence)
		}
	}
}

func TestStorageServersOutsideTheRegionsAreNamed(t *testing.T) {
	want := fdb.Configuration{Regions: []fdb.Region{{DataCenters: []fdb.DataCenter{{ID: "dc1"}, {ID: "dc3", Satellite: 1}}}}}
	database := func(outside int, dc, role string) plan.DatabaseFacts {
		d := reporting(outside+1, "storage")
		n := 0
		for _, p := range d.Status.ProcessList() {
			p.Roles, p.Locality[fdb.LocalityInstanceID] = []fdb.Role{{Role: role}}, p.ID
			p.Locality[fdb.LocalityDCID] = dc
			if n == outside {
				p.Locality[fdb.LocalityDCID] = "dc1"
			}
			d.Status.Cluster.Processes[p.ID], n = p, n+1
		}
		return d
	}
	unknown := database(0, "", fdb.RoleStorage)
	unknown.Status.Cluster.Messages = []fdb.Message{{Name: fdb.MessageStorageServersError}}
	tests := map[string]struct {
		given    plan.DatabaseFacts
		ok       bool
		evidence string
	}{
		"all are inside":        {database(0, "", fdb.RoleStorage), true, "all storage processes are in one of the regions"},
		"one is outside":        {database(1, "dc2", fdb.RoleStorage), false, "1 storage process outside of the regions: storage-0 (data center dc2)"},
		"one of no region":      {database(1, "", fdb.RoleStorage), false, "1 storage process outside of the regions: storage-0 (data center unknown)"},
		"one at a satellite":    {database(1, "dc3", fdb.RoleStorage), false, "1 storage process outside of the regions: storage-0 (data center dc3)"},
		"three at most":         {database(4, "dc2", fdb.RoleStorage), false, "4 storage processes outside of the regions: storage-0 (data center dc2), storage-1 (data center dc2), storage-2 (data center dc2)"},
		"another role":          {database(1, "dc2", "log"), true, "all storage processes are in one of the regions"},
		"the roles are unknown": {unknown, false, "the status document does not report all roles"},
		"no document":           {plan.DatabaseFacts{Unreachable: "timed out"}, false, "no database status: timed out"},
	}
	for name, tc := range tests {
		if c := StorageInRegions(tc.given, want); c.OK != tc.ok || c.Evidence != tc.evidence {
			t.Errorf("%s: %t, %q; want %t, %q", name, c.OK, c.Evidence, tc.ok, tc.evidence)
		}
	}
}
