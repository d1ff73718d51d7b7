package stages

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func added(d plan.Decision) map[v1beta2.ProcessClass]int {
	counts := map[v1beta2.ProcessClass]int{}
	for _, a := range d.Actions {
		for _, g := range a.(plan.AddGroups).Groups {
			counts[g.Class]++
		}
	}
	return counts
}

func TestAddProcessGroups(t *testing.T) {
	tests := map[string]struct {
		from  func(*testing.T) plan.Snapshot
		given func(*plan.Snapshot)
		adds  map[v1beta2.ProcessClass]int
	}{
		"fills an empty cluster":      {from: emptyCluster, adds: map[v1beta2.ProcessClass]int{"log": 4, "stateless": 9, "storage": 3}},
		"leaves a full cluster alone": {from: healthyCluster, adds: map[v1beta2.ProcessClass]int{}},
		"grows a class": {
			from: healthyCluster, given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 5 },
			adds: map[v1beta2.ProcessClass]int{"storage": 2},
		},
		"replaces a group that is marked for removal": {
			from: healthyCluster, given: func(s *plan.Snapshot) { firstOf(*s, "storage").MarkForRemoval(noon) },
			adds: map[v1beta2.ProcessClass]int{"storage": 1},
		},
		"adds none where the spec wants none": {
			from: emptyCluster, given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Stateless = -1 },
			adds: map[v1beta2.ProcessClass]int{"log": 4, "storage": 3},
		},
		"adds while the database is down: it may be down for lack of them": {
			from: healthyCluster, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Log = 6
				s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			},
			adds: map[v1beta2.ProcessClass]int{"log": 2},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := tc.from(t)
			if tc.given != nil {
				tc.given(&s)
			}
			if diff := cmp.Diff(tc.adds, added(addProcessGroups.Decide(s))); diff != "" {
				t.Errorf("added (-want +got):\n%s", diff)
			}
		})
	}
}

// An ID that is in use, about to be removed, or still excluded by the database would
// give a new group an old one's fate.
func TestNewIDsAreNeverInUseOrExcluded(t *testing.T) {
	s := healthyCluster(t)
	s.Cluster.Spec.ProcessCounts.Storage = 5
	forbidden := map[v1beta2.ProcessGroupID]bool{}
	for seed := range uint64(200) {
		s.Seed = seed
		for _, a := range addProcessGroups.Decide(s).Actions {
			forbidden[a.(plan.AddGroups).Groups[0].ID] = true
		}
	}
	i := 0
	for id := range forbidden { // the first IDs of 200 seeds are taken, each in another way
		switch i++; i % 3 {
		case 0:
			s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: "log"})
		case 1:
			s.Cluster.Spec.ProcessGroupsToRemove = append(s.Cluster.Spec.ProcessGroupsToRemove, id)
		case 2:
			c := s.Database.Status.Cluster.Configuration
			c.ExcludedServers = append(c.ExcludedServers, fdb.ExcludedServer{Locality: fmt.Sprintf("locality_instance_id:%s", id)})
		}
	}
	for seed := range uint64(200) {
		s.Seed = seed
		for _, a := range addProcessGroups.Decide(s).Actions {
			groups := a.(plan.AddGroups).Groups
			if slices.ContainsFunc(groups, func(g plan.NewGroup) bool { return forbidden[g.ID] }) || groups[0].ID == groups[1].ID {
				t.Fatalf("seed %d: %v has an ID that may not be used", seed, groups)
			}
		}
	}
}
