package cluster

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestNewProcessGroupIDsAvoidIDsInUse draws IDs, uses them in one place, and draws again with the same
// seed.
func TestNewProcessGroupIDsAvoidIDsInUse(t *testing.T) {
	for name, use := range map[string]func(*plan.Snapshot, v1beta2.ProcessGroupID){
		"in the record": func(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
			g := &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: v1beta2.ProcessClassStorage}
			g.MarkForRemoval(stagestest.Noon)
			s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, g)
		},
		"in the record, under another prefix": func(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
			g := &v1beta2.ProcessGroupStatus{ProcessGroupID: "old-" + id, ProcessClass: v1beta2.ProcessClassStorage}
			g.MarkForRemoval(stagestest.Noon)
			s.Cluster.Spec.ProcessGroupIDPrefix = ""
			s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, g)
		},
		"by a pod that the record lacks": func(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
			s.Pods[podNameOf(*s, id, v1beta2.ProcessClassStorage)] = s.Pods["sample-storage-114"]
		},
		"in processGroupsToRemove": func(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
			s.Cluster.Spec.ProcessGroupsToRemove = append(s.Cluster.Spec.ProcessGroupsToRemove, id)
		},
		"in processGroupsToRemoveWithoutExclusion": func(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
			s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion = append(s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion, id)
		},
		"in an exclusion": func(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
			c := s.Database.Status.Cluster.Configuration
			c.ExcludedServers = append(c.ExcludedServers, fdb.ExcludedServer{Locality: id.ExclusionString()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			missing := map[v1beta2.ProcessClass]int{v1beta2.ProcessClassStorage: 3}
			before := map[v1beta2.ProcessGroupID]bool{}
			for _, g := range newGroups(s, missing) {
				before[g.ID] = true
				use(&s, g.ID)
			}
			after := newGroups(s, missing)
			if len(before) != 3 || len(after) != 3 {
				t.Fatalf("drew %d, then %d", len(before), len(after))
			}
			for _, g := range after {
				if before[g.ID] {
					t.Errorf("drew %s again", g.ID)
				}
			}
		})
	}
}

// TestNewProcessGroupIDsAreUnique draws so many that two equal numbers among them are practically certain: the
// chance of none is below 1 in 10^15.
func TestNewProcessGroupIDsAreUnique(t *testing.T) {
	seen := map[v1beta2.ProcessGroupID]bool{}
	for _, g := range newGroups(stagestest.HealthyCluster(t), map[v1beta2.ProcessClass]int{v1beta2.ProcessClassStorage: 3000}) {
		if seen[g.ID] {
			t.Fatalf("drew %s twice", g.ID)
		}
		seen[g.ID] = true
	}
}

// TestNewGroupsOfDifferentClassesHaveDifferentNumbers compares the numbers of two classes of one pass.
func TestNewGroupsOfDifferentClassesHaveDifferentNumbers(t *testing.T) {
	missing := map[v1beta2.ProcessClass]int{v1beta2.ProcessClassStorage: 3, v1beta2.ProcessClassLog: 3}
	numbers := map[string]int{}
	for _, g := range newGroups(stagestest.HealthyCluster(t), missing) {
		numbers[string(g.ID)[len(g.Class):]]++
	}
	if len(numbers) != 6 {
		t.Errorf("6 process groups have %d numbers: %v", len(numbers), numbers)
	}
}
