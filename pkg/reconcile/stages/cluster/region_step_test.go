package cluster

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// ranks are main data centers with their priorities, in order.
type rank struct {
	dc       string
	priority int
}

// regionsHave returns a healthy cluster of dc1 whose database has these regions, and whose spec has
// others. Processes of dc2 report as well, and dc1 serves.
func regionsHave(usable int, have ...rank) func(testing.TB) plan.Snapshot {
	return func(tb testing.TB) plan.Snapshot {
		tb.Helper()
		s := stagestest.HealthyCluster(tb)
		status := s.Database.Status
		for id, p := range maps.Clone(status.Cluster.Processes) {
			status.Cluster.Processes[id] = inDataCenter(p, "dc1")
			status.Cluster.Processes["other-"+id] = inDataCenter(p, "dc2")
		}
		configuration := *status.Cluster.Configuration
		configuration.Regions, configuration.UsableRegions = regionsOf(have), usable
		status.Cluster.Configuration, status.Cluster.ActivePrimaryDC = &configuration, "dc1"
		return s
	}
}

// inDataCenter returns the process as it would report there; dc1 has the data.
func inDataCenter(p fdb.Process, dc string) fdb.Process {
	p.Locality = maps.Clone(p.Locality)
	p.Locality[fdb.LocalityDCID] = dc
	p.Locality[fdb.LocalityZoneID] = dc + "-" + p.Zone()
	p.Locality[fdb.LocalityInstanceID] = dc + "-" + p.InstanceID()
	if p.ClassType == "storage" && dc == "dc1" {
		p.Roles = []fdb.Role{{Role: fdb.RoleStorage}}
	}
	return p
}

func regionsOf(ranks []rank) []fdb.Region {
	var regions []fdb.Region
	for _, r := range ranks {
		regions = append(regions, fdb.Region{DataCenters: []fdb.DataCenter{{ID: r.dc, Priority: r.priority}}})
	}
	return regions
}

func wantRegions(s *plan.Snapshot, usable int, want ...rank) {
	s.Cluster.Spec.DatabaseConfiguration.UsableRegions = usable
	s.Cluster.Spec.DatabaseConfiguration.Regions = nil
	for _, r := range want {
		s.Cluster.Spec.DatabaseConfiguration.Regions = append(s.Cluster.Spec.DatabaseConfiguration.Regions,
			v1beta2.Region{Datacenters: []v1beta2.DataCenter{{ID: r.dc, Priority: r.priority}}})
	}
}

// remoteTracker makes data distribution report the second region.
func remoteTracker(s *plan.Snapshot, state string, replicas int) {
	data := s.Database.Status.Cluster.Data
	data.TeamTrackers = append(slices.Clone(data.TeamTrackers),
		fdb.TeamTracker{State: fdb.DataState{Name: state, Healthy: new(true), MinReplicasRemaining: &replicas}})
}

func eachOf(s *plan.Snapshot, dc string, edit func(*fdb.Process)) {
	for id, p := range s.Database.Status.Cluster.Processes {
		if p.DC() == dc {
			edit(&p)
			s.Database.Status.Cluster.Processes[id] = p
		}
	}
}

func TestRegionsChangeStepByStep(t *testing.T) {
	dc := func(id string, priority int) rank { return rank{id, priority} }
	both := func(usable, second int) func(testing.TB) plan.Snapshot {
		return regionsHave(usable, dc("dc1", 1), dc("dc2", second))
	}
	second := func(s *plan.Snapshot) { wantRegions(s, 2, dc("dc1", 1), dc("dc2", 0)) }
	only := func(s *plan.Snapshot) { wantRegions(s, 1, dc("dc1", 1)) }
	and := func(edits ...func(*plan.Snapshot)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	filled := func(s *plan.Snapshot) { remoteTracker(s, "healthy", 2) }
	const (
		add  = `run configure regions=[{"datacenters":[{"id":"dc1","priority":1}]},{"datacenters":[{"id":"dc2","priority":-1}]}]`
		let  = `run configure regions=[{"datacenters":[{"id":"dc1","priority":1}]},{"datacenters":[{"id":"dc2","priority":0}]}]`
		drop = `run configure regions=[{"datacenters":[{"id":"dc1","priority":1}]}]`
	)
	tests := map[string]struct {
		from  func(testing.TB) plan.Snapshot
		given func(*plan.Snapshot)
		does  []string
		// holds is a part of the reason; empty for none.
		holds  string
		manual bool
	}{
		"a region joins without the right to serve": {
			from: regionsHave(1, dc("dc1", 1)), given: second, does: []string{add}, holds: "then 2 steps away from the spec",
		},
		"a database without regions begins with the data center that has the data": {
			from: regionsHave(1), given: second, does: []string{add}, holds: "2 steps away",
		},
		"a region joins only with enough fault domains of its own": {
			from: regionsHave(1, dc("dc1", 1)), given: and(second, func(s *plan.Snapshot) {
				eachOf(s, "dc2", func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = "one" })
			}), holds: "region dc2: storage processes in 1 fault domain, 2 required",
		},
		"a region without a process does not join": {
			from: regionsHave(1, dc("dc1", 1)), given: and(second, func(s *plan.Snapshot) {
				eachOf(s, "dc2", func(p *fdb.Process) { p.Locality[fdb.LocalityDCID] = "dc9" })
			}), holds: "region dc2: storage processes in 0 fault domains",
		},
		"the second region is filled before it may serve": {
			from: both(1, -1), given: second, does: []string{"run configure usable_regions=2"}, holds: "1 step away",
		},
		"a region may not serve while only the first one is seen": {
			from: both(2, -1), given: second, holds: "data distribution does not show the second region yet",
		},
		"a region may not serve while it is being filled, however healthy": {
			from: both(2, -1), given: and(second, func(s *plan.Snapshot) { remoteTracker(s, "healthy_populating_region", 2) }),
			holds: "the second region is still being populated",
		},
		"a region may not serve with too few replicas": {
			from: both(2, -1), given: and(second, func(s *plan.Snapshot) { remoteTracker(s, "healthy", 1) }),
			holds: "the second region has too few replicas of some data, 2 required",
		},
		"a region may not serve without full replication": {
			from: both(2, -1), given: and(second, filled, func(s *plan.Snapshot) { s.Database.Status.Cluster.FullReplication = new(false) }),
			holds: "the data is not fully replicated",
		},
		"a region may serve once it has a full copy": {
			from: both(2, -1), given: and(second, filled), does: []string{let}, holds: "must report a full copy",
		},
		"a step waits after a recovery like any change": {
			from: both(2, -1), given: and(second, filled, func(s *plan.Snapshot) {
				s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = new(59.0)
			}), holds: "59s ago",
		},
		"nothing changes while another region serves than should": {
			from: both(2, 0), given: and(only, filled, func(s *plan.Snapshot) { s.Database.Status.Cluster.ActivePrimaryDC = "dc2" }),
			holds: "dc2 serves, dc1 has the highest priority",
		},
		"a region that is given up is kept from serving first": {
			from: both(2, 0), given: only, does: []string{add}, holds: "2 steps away",
		},
		"a region that is not full can be given up": {
			from: both(2, -1), given: only, does: []string{"run configure usable_regions=1"}, holds: "1 step away",
		},
		"a region goes only once no storage server is in it": {
			from: both(1, -1), given: and(only, func(s *plan.Snapshot) {
				eachOf(s, "dc2", func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: fdb.RoleStorage}} })
			}), holds: "16 storage processes outside of the regions: dc2-",
		},
		"a region is not removed while the roles are unknown": {
			from: both(1, -1), given: and(only, func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Messages = []fdb.Message{{Name: fdb.MessageStorageServersError}}
			}), holds: "does not report all roles",
		},
		"an empty region goes": {from: both(1, -1), given: only, does: []string{drop}},
		"the last step is not the end when other settings differ": {
			from: both(1, -1), given: and(only, func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration.Logs = 7 }), does: []string{drop}, holds: "the other settings follow",
		},
		"the primary changes to a region that may serve, and keeps the right to": {
			from: both(2, 0), given: and(filled, func(s *plan.Snapshot) { wantRegions(s, 2, dc("dc2", 1), dc("dc1", -1)) }),
			does:  []string{`run configure regions=[{"datacenters":[{"id":"dc2","priority":1}]},{"datacenters":[{"id":"dc1","priority":0}]}]`},
			holds: "set the desired priorities: dc2 1, dc1 -1",
		},
		"a region without data is never to serve": {
			from: both(1, -1), given: func(s *plan.Snapshot) { wantRegions(s, 1, dc("dc1", 1), dc("dc2", 0)) },
			holds: "two regions have a priority of 0 or more, but usable_regions is 1", manual: true,
		},
		"satellites have to report before they are used": {
			from: regionsHave(1, dc("dc1", 1)), given: func(s *plan.Snapshot) {
				wantRegions(s, 1, dc("dc1", 1))
				region := &s.Cluster.Spec.DatabaseConfiguration.Regions[0]
				region.Datacenters = append(region.Datacenters, v1beta2.DataCenter{ID: "dc3", Priority: 1, Satellite: 1})
				region.SatelliteRedundancyMode = v1beta2.SatelliteModeOneDouble
			}, holds: "satellites of region dc1: log processes in 0 fault domains, 2 required",
		},
		"other settings change once the regions match": {
			from: both(2, 0), given: and(second, filled),
			does: []string{`run configure double ssd-2 usable_regions=2 logs=3 resolvers=1 log_routers=3 remote_logs=3 proxies=3 ` + strings.TrimPrefix(let, "run configure ")},
		},
		"regions that match are watched until they are full": {
			from: both(2, 0), given: and(second, func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Configuration.LogRouters, s.Database.Status.Cluster.Configuration.RemoteLogs = 3, 3
			}), holds: "not all hold a full copy yet: data distribution does not show the second region",
		},
		"regions that match and are full need nothing": {
			from: both(2, 0), given: and(second, filled, func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Configuration.LogRouters, s.Database.Status.Cluster.Configuration.RemoteLogs = 3, 3
			}),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := tc.from(t)
			tc.given(&s)
			d := UpdateDatabaseConfiguration.Decide(s)
			if diff := cmp.Diff(tc.does, stagestest.Described(d)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if got := stagestest.Reason(d); !strings.Contains(got, tc.holds) || (tc.holds == "") != (got == "") {
				t.Errorf("holds with %q, want %q", got, tc.holds)
			}
			if d.Hold != nil && (d.Hold.Manual != tc.manual || !tc.manual && d.Hold.RetryAfter != regionRetry) {
				t.Errorf("got %+v", d.Hold)
			}
			for _, a := range d.Actions {
				if !plan.EffectOf(a).Locked {
					t.Errorf("%s needs no lock", a.Describe())
				}
			}
		})
	}
}

// A new database starts in its primary region and waits for no other.
func TestANewDatabaseStartsWithItsPrimaryRegion(t *testing.T) {
	s := stagestest.Unconfigured(t)
	wantRegions(&s, 2, rank{"dc2", 0}, rank{"dc1", 1})
	if d := UpdateDatabaseConfiguration.Decide(s); d.Hold == nil || !strings.Contains(d.Hold.Text(), "region dc1: storage processes in 0 fault domains, 2 required") {
		t.Errorf("got %+v", d)
	}
	eachOf(&s, "", func(p *fdb.Process) { p.Locality[fdb.LocalityDCID] = "dc1" })
	want := []string{`run configure new double ssd-2 usable_regions=1 logs=3 resolvers=1 log_routers=3 remote_logs=3 proxies=3 regions=[{"datacenters":[{"id":"dc1","priority":1}]}]`}
	if diff := cmp.Diff(want, stagestest.Described(UpdateDatabaseConfiguration.Decide(s))); diff != "" {
		t.Error(diff)
	}
}
