package operations

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// ranked returns regions of dc1 and dc2 with these priorities, in a spec.
func ranked(dc1, dc2 int) []v1beta2.Region {
	return []v1beta2.Region{{Datacenters: []v1beta2.DataCenter{{ID: "dc1", Priority: dc1}}}, {Datacenters: []v1beta2.DataCenter{{ID: "dc2", Priority: dc2}}}}
}

// twoRegions returns a healthy database with a full copy in dc2, whose resource has the namesake
// dc2 in the namespace. dc1 serves.
func twoRegions(tb testing.TB) plan.Snapshot {
	tb.Helper()
	s := stagestest.HealthyCluster(tb)
	other := v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: "dc2", UID: "2", Generation: 7}}
	other.Status.ConnectionString = s.Cluster.Status.ConnectionString
	status := &s.Database.Status.Cluster
	for id, p := range maps.Clone(status.Processes) {
		status.Processes[id] = placed(p, "dc1", p.InstanceID())
		remote := placed(p, "dc2", "dc2-"+p.InstanceID())
		status.Processes["dc2-"+id] = remote
		other.Status.ProcessGroups = append(other.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: v1beta2.ProcessGroupID(remote.InstanceID())})
	}
	configuration := *status.Configuration
	configuration.UsableRegions, configuration.Regions = 2, []fdb.Region{{DataCenters: []fdb.DataCenter{{ID: "dc1", Priority: 1}}}, {DataCenters: []fdb.DataCenter{{ID: "dc2"}}}}
	status.Configuration, status.ActivePrimaryDC, status.DatacenterLag = &configuration, "dc1", &fdb.Lag{Seconds: new(0.5)}
	replicas := 2
	status.Data.TeamTrackers = append(slices.Clone(status.Data.TeamTrackers), fdb.TeamTracker{State: fdb.DataState{Name: "healthy", Healthy: new(true), MinReplicasRemaining: &replicas}})
	for _, c := range []*v1beta2.FoundationDBCluster{s.Cluster, &other} {
		c.Spec.DatabaseConfiguration.UsableRegions, c.Spec.DatabaseConfiguration.Regions = 2, ranked(1, 0)
	}
	s.OtherClusters = plan.OtherClusterFacts{Read: true, All: []v1beta2.FoundationDBCluster{other, {ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}}}
	return s
}

func placed(p fdb.Process, dc, id string) fdb.Process {
	p.Locality = maps.Clone(p.Locality)
	p.Locality[fdb.LocalityDCID], p.Locality[fdb.LocalityZoneID], p.Locality[fdb.LocalityInstanceID] = dc, dc+"-"+p.Zone(), id
	return p
}

func TestSetPrimaryRegionChangesPrioritiesOnlyIfItIsSafe(t *testing.T) {
	const (
		path = "spec.databaseConfiguration.regions"
		own  = "sample: " + path + "[0].datacenters[0].priority (dc1) from 1 to 0; sample: " + path + "[1].datacenters[0].priority (dc2) from 0 to 1"
		both = "set priorities of regions: dc2: " + path + "[0].datacenters[0].priority (dc1) from 1 to 0; dc2: " + path + "[1].datacenters[0].priority (dc2) from 0 to 1; " + own
	)
	tests := map[string]struct {
		to     PrimaryRegion
		given  func(*plan.Snapshot)
		does   []string
		holds  string // a part of its reason or evidence
		manual bool
	}{
		"the priorities of all resources of the database are exchanged": {does: []string{both}},
		"what an interrupted run has changed is left alone": {
			given: func(s *plan.Snapshot) { s.OtherClusters.All[0].Spec.DatabaseConfiguration.Regions = ranked(0, 1) }, does: []string{"set priorities of regions: " + own},
		},
		"an interrupted run whose change was configured already goes on": {
			given: func(s *plan.Snapshot) {
				s.OtherClusters.All[0].Spec.DatabaseConfiguration.Regions = ranked(0, 1)
				s.Database.Status.Cluster.Configuration.Regions = []fdb.Region{{DataCenters: []fdb.DataCenter{{ID: "dc2", Priority: 1}}}, {DataCenters: []fdb.DataCenter{{ID: "dc1"}}}}
				s.Database.Status.Cluster.ActivePrimaryDC = "dc2"
			}, does: []string{"set priorities of regions: " + own},
		},
		"with these priorities everywhere there is nothing to do": {given: func(s *plan.Snapshot) {
			s.OtherClusters.All[0].Spec.DatabaseConfiguration.Regions, s.Cluster.Spec.DatabaseConfiguration.Regions = ranked(0, 1), ranked(0, 1)
		}},
		"the primary region itself stays": {to: PrimaryRegion{DataCenter: "dc1"}},
		"not to a data center without a region": {
			to: PrimaryRegion{DataCenter: "dc3"}, holds: "dc3 is not the main data center of a region", manual: true,
		},
		"not between equal priorities": {
			given: func(s *plan.Snapshot) { s.Cluster.Spec.DatabaseConfiguration.Regions = ranked(1, 1) }, holds: "have the same priority 1", manual: true,
		},
		"not to a region that may not become primary": {
			given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Configuration.Regions[1].DataCenters[0].Priority = -1
			},
			holds: "its priority is -1", manual: true,
		},
		"not with one usable region": {
			given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration.UsableRegions = 1 }, holds: "usable_regions is 1", manual: true,
		},
		"not while the database is down, and what may be lost comes first": {
			given: func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false },
			holds: "may be lost, if the primary region never returns: what it committed and dc2 does not have yet", manual: true,
		},
		"not while the database does not answer": {
			given: func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }, holds: "what may be lost is unknown", manual: true,
		},
		"not after the database has failed over by itself": {
			given: func(s *plan.Snapshot) { s.Database.Status.Cluster.ActivePrimaryDC = "dc2" }, holds: "dc2 serves already", manual: true,
		},
		"not while it is unknown which region serves": {
			given: func(s *plan.Snapshot) { s.Database.Status.Cluster.ActivePrimaryDC = "" }, holds: "does not report which region serves", manual: true,
		},
		"not while the resources have other regions": {
			given: func(s *plan.Snapshot) {
				s.OtherClusters.All[0].Spec.DatabaseConfiguration.Regions = append(ranked(1, 0), v1beta2.Region{})
			}, holds: "regions of dc2 differ from those of sample", manual: true,
		},
		"not while another change of regions goes on": {
			given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration.Regions[0].SatelliteLogs = 3 }, holds: "away from the spec: reconcile first", manual: true,
		},
		"not while a resource is in another namespace": {
			given: func(s *plan.Snapshot) { s.OtherClusters.All = nil }, holds: "of other resources:", manual: true,
		},
		"unless a user declares that it has the priorities": {
			to: PrimaryRegion{DataCenter: "dc2", SetElsewhere: true}, given: func(s *plan.Snapshot) { s.OtherClusters.All = nil }, does: []string{"set priorities of regions: " + own},
		},
		"not while the other resources are unknown": {
			given: func(s *plan.Snapshot) { s.OtherClusters = plan.OtherClusterFacts{NotRead: "forbidden"} }, holds: "unknown: forbidden", manual: true,
		},
		"not while passes do not configure the database": {
			given: func(s *plan.Snapshot) { s.Cluster.Spec.AutomationOptions.ConfigureDatabase = new(false) }, holds: "configureDatabase is false", manual: true,
		},
		"not while a restore has the database locked": {
			given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatabaseLockState.Locked = true }, holds: "locked with UID", manual: true,
		},
		"it waits while the region has no full copy": {
			given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.Data.TeamTrackers[1].State.Name = "healthy_populating_region"
			}, holds: "still being populated",
		},
		"it waits while the region lags behind": {
			given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatacenterLag.Seconds = new(21.0) }, holds: "it lags 21.0 s",
		},
		"it waits while the lag is unknown": {
			given: func(s *plan.Snapshot) { s.Database.Status.Cluster.DatacenterLag = nil }, holds: "does not report the lag",
		},
		"it waits while many generations are active": {
			given: func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.ActiveGenerations = new(11) }, holds: "11 active generations, at most 10",
		},
		"it waits while the state of the data is unknown": {
			given: func(s *plan.Snapshot) { s.Database.Status.Cluster.Data.State = nil }, holds: "does not report the state of the data",
		},
		"it waits while a queue is long": {
			given: func(s *plan.Snapshot) {
				s.Database.Status.Cluster.QoS.WorstQueueBytesLogServer = new(int64(1 << 30))
			}, holds: "queue of a log process is 1024 MiB",
		},
		"it waits while the region has too few fault domains": {
			given: func(s *plan.Snapshot) {
				for id, p := range s.Database.Status.Cluster.Processes {
					if p.DC() == "dc2" {
						p.Locality[fdb.LocalityZoneID] = "dc2-one"
						s.Database.Status.Cluster.Processes[id] = p
					}
				}
			}, holds: "fault domain",
		},
		"it waits after a recovery": {given: stagestest.RecoveredAgo(5), holds: "last recovery 5s ago"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := twoRegions(t)
			if tc.given != nil {
				tc.given(&s)
			}
			if tc.to.DataCenter == "" {
				tc.to.DataCenter = "dc2"
			}
			stagestest.RemovalCase{From: func(testing.TB) plan.Snapshot { return s }, Does: tc.does, Holds: tc.holds}.Check(t, SetPrimaryRegion(tc.to))
			d := SetPrimaryRegion(tc.to).Decide(s)
			if (d.Hold != nil && d.Hold.Manual) != tc.manual {
				t.Errorf("hold %+v, want manual %t", d.Hold, tc.manual)
			}
		})
	}
}

// Once the action is done there is nothing left to do, and the resource of the pass was the last one.
func TestThePrioritiesOfTheOwnResourceAreSetLast(t *testing.T) {
	s := twoRegions(t)
	stage := SetPrimaryRegion(PrimaryRegion{DataCenter: "dc2"})
	action, is := stage.Decide(s).Actions[0].(plan.SetPriorities)
	if !is || action.Resources[len(action.Resources)-1].Name != s.Cluster.Name {
		t.Fatalf("%+v", action)
	}
	before := s.Cluster.DeepCopy()
	after := action.Apply(s)
	if d := stage.Decide(after); len(d.Actions) > 0 || d.Hold != nil {
		t.Errorf("%+v", d)
	}
	if diff := cmp.Diff(before.Spec, s.Cluster.Spec); diff != "" {
		t.Errorf("the snapshot was changed: %s", diff)
	}
	if diff := cmp.Diff(ranked(1, 0), s.OtherClusters.All[0].Spec.DatabaseConfiguration.Regions); diff != "" {
		t.Errorf("the snapshot was changed: %s", diff)
	}
}
