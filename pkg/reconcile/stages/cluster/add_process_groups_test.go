package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// added counts the groups of a decision by class; nil without any.
func added(d plan.Decision) map[v1beta2.ProcessClass]int {
	var counts map[v1beta2.ProcessClass]int
	for _, g := range addedGroups(d) {
		if counts == nil {
			counts = map[v1beta2.ProcessClass]int{}
		}
		counts[g.Class]++
	}
	return counts
}

func addedGroups(d plan.Decision) []plan.NewGroup {
	var groups []plan.NewGroup
	for _, a := range d.Actions {
		if add, ok := a.(plan.AddGroups); ok {
			groups = append(groups, add.Groups...)
		}
	}
	return groups
}

func TestAddProcessGroups(t *testing.T) {
	tests := map[string]struct {
		from  func(testing.TB) plan.Snapshot
		given func(*plan.Snapshot)
		adds  map[v1beta2.ProcessClass]int
	}{
		"adds all groups of a new cluster": {
			from: stagestest.EmptyCluster, adds: map[v1beta2.ProcessClass]int{"storage": 3, "log": 4, "stateless": 9},
		},
		"adds nothing to a complete cluster": {from: stagestest.HealthyCluster},
		"adds what a class lacks": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 5 }, adds: map[v1beta2.ProcessClass]int{"storage": 2},
		},
		"replaces a group that is marked for removal before it goes": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) { stagestest.FirstOf(*s, "storage").MarkForRemoval(stagestest.Noon) }, adds: map[v1beta2.ProcessClass]int{"storage": 1},
		},
		"adds nothing where there are too many": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 1 },
		},
		"adds none of a class that the spec turns off": {
			from: stagestest.EmptyCluster, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = -1
			}, adds: map[v1beta2.ProcessClass]int{"log": 4, "stateless": 9},
		},
		"adds while the database is down: it may be down for lack of them": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Log = 6
				s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			}, adds: map[v1beta2.ProcessClass]int{"log": 2},
		},
		"adds before there is a database": {
			from: stagestest.HealthyCluster, given: func(s *plan.Snapshot) {
				s.Cluster.Spec.ProcessCounts.Storage = 5
				s.Cluster.Status.Configured = false
				s.Database = plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
			}, adds: map[v1beta2.ProcessClass]int{"storage": 2},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := tc.from(t)
			if tc.given != nil {
				tc.given(&s)
			}
			d := AddProcessGroups.Decide(s)
			if diff := cmp.Diff(tc.adds, added(d)); diff != "" {
				t.Errorf("added (-want +got):\n%s", diff)
			}
			if d.Hold != nil {
				t.Errorf("holds with %q", stagestest.Reason(d))
			}
		})
	}
}

func TestNewIDsAreRandomAndUnused(t *testing.T) {
	s := stagestest.EmptyCluster(t)
	seen := map[string]bool{}
	for seed := range uint64(50) {
		s.Seed = seed
		ids := map[v1beta2.ProcessGroupID]bool{}
		for _, g := range addedGroups(AddProcessGroups.Decide(s)) {
			prefix, class, number, err := g.ID.Split()
			if err != nil || prefix != "" || class != g.Class || number < 1 || number > v1beta2.MaxProcessGroupNumber {
				t.Errorf("ID %s: %q, %s, %d, %v", g.ID, prefix, class, number, err)
			}
			if ids[g.ID] {
				t.Errorf("ID %s was drawn twice", g.ID)
			}
			ids[g.ID] = true
		}
		seen[stagestest.Described(AddProcessGroups.Decide(s))[0]] = true
	}
	if len(seen) < 45 {
		t.Errorf("50 seeds gave %d different choices", len(seen))
	}
}

func TestAddProcessGroupsChoosesIDsDeterministically(t *testing.T) {
	s := stagestest.EmptyCluster(t)
	if diff := cmp.Diff(AddProcessGroups.Decide(s), AddProcessGroups.Decide(s)); diff != "" {
		t.Errorf("a second decision differs:\n%s", diff)
	}
}

// A new group with a known ID would be confused with the old one.
func TestNewProcessGroupsNeverReuseAKnownID(t *testing.T) {
	known := map[string]func(*plan.Snapshot, v1beta2.ProcessGroupID){
		"because the record has it": func(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
			removed := &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: v1beta2.ProcessClassStorage}
			removed.MarkForRemoval(stagestest.Noon)
			s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, removed)
		},
		"because the spec removes it": func(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
			s.Cluster.Spec.ProcessGroupsToRemove = append(s.Cluster.Spec.ProcessGroupsToRemove, id)
		},
		"because the spec removes it without exclusion": func(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
			s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion = append(s.Cluster.Spec.ProcessGroupsToRemoveWithoutExclusion, id)
		},
		"because the database excludes it": func(s *plan.Snapshot, id v1beta2.ProcessGroupID) {
			exclude(s, id.ExclusionString())
		},
	}
	for name, know := range known {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			s.Cluster.Spec.ProcessCounts.Storage = 6
			for _, g := range addedGroups(AddProcessGroups.Decide(s)) {
				know(&s, g.ID)
			}
			taken := map[v1beta2.ProcessGroupID]bool{}
			for id := range usedIDs(s) {
				taken[id] = true
			}
			drawn := addedGroups(AddProcessGroups.Decide(s))
			if len(drawn) != 3 {
				t.Fatalf("drew %v, want 3", drawn)
			}
			for _, g := range drawn {
				if taken[g.ID] {
					t.Errorf("drew %s", g.ID)
				}
			}
		})
	}
}

func exclude(s *plan.Snapshot, target string) {
	s.Database.Status.Cluster.Configuration.ExcludedServers = append(s.Database.Status.Cluster.Configuration.ExcludedServers, fdb.ExcludedServer{Locality: target})
}

func TestNewGroupsHaveThePrefixAndInitialConditions(t *testing.T) {
	s := stagestest.EmptyCluster(t)
	s.Cluster.Spec.ProcessGroupIDPrefix = "dc1"
	d := AddProcessGroups.Decide(s)
	after := d.Actions[0].(plan.Edit).Apply(s)
	if len(s.Groups()) != 0 {
		t.Error("applying an edit changed the snapshot it was applied to")
	}
	for i, g := range after.Groups() {
		if !strings.HasPrefix(string(g.ProcessGroupID), "dc1-") {
			t.Errorf("%s lacks the prefix", g.ProcessGroupID)
		}
		if i > 0 && after.Groups()[i-1].ProcessGroupID >= g.ProcessGroupID {
			t.Errorf("%s comes after %s", after.Groups()[i-1].ProcessGroupID, g.ProcessGroupID)
		}
		for _, c := range []v1beta2.ProcessGroupConditionType{v1beta2.ConditionMissingProcesses, v1beta2.ConditionMissingPod} {
			if since, ok := g.Condition(c); !ok || !since.Equal(stagestest.Noon) {
				t.Errorf("%s has %s since %s, want since noon", g.ProcessGroupID, c, since)
			}
		}
		if _, ok := g.Condition(v1beta2.ConditionMissingPVC); ok != g.ProcessClass.IsStateful() {
			t.Errorf("%s misses a claim: %t", g.ProcessGroupID, ok)
		}
		if g.HasCondition(v1beta2.ConditionMissingService) {
			t.Errorf("%s misses a service that it does not need", g.ProcessGroupID)
		}
	}
}

func TestNewGroupsHaveMissingServiceIfPublicIPsComeFromServices(t *testing.T) {
	s := stagestest.EmptyCluster(t)
	s.Cluster.Spec.Routing.PublicIPSource = new(v1beta2.PublicIPSourceService)
	after := AddProcessGroups.Decide(s).Actions[0].(plan.Edit).Apply(s)
	for _, g := range after.Groups() {
		if since, ok := g.Condition(v1beta2.ConditionMissingService); !ok || !since.Equal(stagestest.Noon) {
			t.Errorf("%s misses its service since %s: %t, want since noon", g.ProcessGroupID, since, ok)
		}
	}
}
