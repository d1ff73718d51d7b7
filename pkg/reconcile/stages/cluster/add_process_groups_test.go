package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
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

// countsAfter adds missing process groups and counts those that stay by bucket.
func countsAfter(s plan.Snapshot) distribution.Tally {
	for _, a := range AddProcessGroups.Decide(s).Actions {
		s = a.(plan.Edit).Apply(s)
	}
	return distribution.Of(s.Cluster).Count(s.Remaining())
}

// TestProcessGroupIDsOfANewClusterAreSpreadEvenlyOverBuckets draws the process groups of new clusters with many seeds.
func TestProcessGroupIDsOfANewClusterAreSpreadEvenlyOverBuckets(t *testing.T) {
	const storage, log, stateless = v1beta2.ProcessClassStorage, v1beta2.ProcessClassLog, v1beta2.ProcessClassStateless
	for pack, packs := range map[v1beta2.BinPack]map[v1beta2.ProcessClass]distribution.Counts{
		v1beta2.BinPackClass:    {storage: {1, 1, 1}, log: {2, 1, 1}, stateless: {3, 3, 3}},
		v1beta2.BinPackAll:      {storage: {6, 5, 5}},
		v1beta2.BinPackStateful: {storage: {3, 2, 2}, stateless: {3, 3, 3}},
	} {
		numbers := map[v1beta2.ProcessGroupID]bool{}
		for seed := range uint64(20) {
			s := stagestest.EmptyCluster(t)
			s.Seed = seed
			stagestest.Packing(stagestest.Packs(3, pack))(&s)
			tally := countsAfter(s)
			for class, want := range map[v1beta2.ProcessClass]distribution.Counts{storage: {1, 1, 1}, log: {2, 1, 1}, stateless: {3, 3, 3}} {
				if diff := cmp.Diff(want, tally.Of(class)); diff != "" {
					t.Errorf("%s, seed %d: %s (-want +got):\n%s", pack, seed, class, diff)
				}
			}
			for class, want := range packs {
				if diff := cmp.Diff(want, tally.OfPack(class)); diff != "" {
					t.Errorf("%s, seed %d: the pack of %s (-want +got):\n%s", pack, seed, class, diff)
				}
			}
			for _, g := range addedGroups(AddProcessGroups.Decide(s)) {
				numbers[g.ID] = true
			}
		}
		if len(numbers) < 300 { // 320 were drawn
			t.Errorf("%s: only %d different IDs", pack, len(numbers))
		}
	}
}

// TestReplacementsGetIDsOfTheVacatedBucket marks storage process groups of a packed cluster.
func TestReplacementsGetIDsOfTheVacatedBucket(t *testing.T) {
	for name, tc := range map[string]struct {
		numbers []int
		marked  []v1beta2.ProcessGroupID
		count   int
		want    distribution.Counts
	}{
		"one of three":           {[]int{1, 2, 3}, []v1beta2.ProcessGroupID{"storage-2"}, 3, distribution.Counts{1, 1, 1}},
		"a whole bucket":         {[]int{1, 2, 3, 4, 5, 6}, []v1beta2.ProcessGroupID{"storage-1", "storage-4"}, 6, distribution.Counts{2, 2, 2}},
		"all":                    {[]int{1, 2, 3, 4}, []v1beta2.ProcessGroupID{"storage-1", "storage-2", "storage-3", "storage-4"}, 4, distribution.Counts{2, 1, 1}},
		"and more that are new":  {[]int{1, 2, 3}, []v1beta2.ProcessGroupID{"storage-3"}, 5, distribution.Counts{2, 2, 1}},
		"more than one too many": {[]int{1, 4, 7, 2}, []v1beta2.ProcessGroupID{"storage-2"}, 4, distribution.Counts{1, 3, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.PackedCluster(t, stagestest.Packs(3, v1beta2.BinPackClass), tc.numbers...)
			s.Cluster.Spec.ProcessCounts.Storage = tc.count
			for _, g := range s.Groups() {
				if slices.Contains(tc.marked, g.ProcessGroupID) {
					g.MarkForRemoval(stagestest.Noon)
				}
			}
			if diff := cmp.Diff(tc.want, countsAfter(s).Of(v1beta2.ProcessClassStorage)); diff != "" {
				t.Errorf("buckets (-want +got):\n%s", diff)
			}
		})
	}
}

// TestIDsAreNotDrawnFromABucketWithoutFreeNumbers uses all numbers of a bucket: with as many fault domains as
// numbers, each has one.
func TestIDsAreNotDrawnFromABucketWithoutFreeNumbers(t *testing.T) {
	s := stagestest.EmptyCluster(t)
	stagestest.Packing(stagestest.Packs(v1beta2.MaxProcessGroupNumber, v1beta2.BinPackClass))(&s)
	s.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{"storage-99999", "storage-1"} // of the buckets 0 and 1
	var storage []v1beta2.ProcessGroupID
	for _, g := range addedGroups(AddProcessGroups.Decide(s)) {
		if g.Class == v1beta2.ProcessClassStorage {
			storage = append(storage, g.ID)
		}
	}
	if diff := cmp.Diff([]v1beta2.ProcessGroupID{"storage-2", "storage-3", "storage-4"}, storage); diff != "" {
		t.Errorf("drawn (-want +got):\n%s", diff)
	}
}

// TestTestersAreNotPacked draws testers beside packed process groups: with any seed, packed ones would be
// even in the three buckets.
func TestTestersAreNotPacked(t *testing.T) {
	splits := map[[3]int]bool{}
	for seed := range uint64(20) {
		s := stagestest.EmptyCluster(t)
		s.Seed = seed
		stagestest.Packing(stagestest.Packs(3, v1beta2.BinPackAll))(&s)
		s.Cluster.Spec.ProcessCounts.Test = 30
		var split [3]int
		for _, g := range addedGroups(AddProcessGroups.Decide(s)) {
			_, _, n, err := g.ID.Split()
			if err != nil {
				t.Fatal(err)
			}
			if g.Class == v1beta2.ProcessClassTest {
				split[n%3]++
			}
		}
		if n := split[0] + split[1] + split[2]; n != 30 {
			t.Fatalf("seed %d: %d testers, want 30", seed, n)
		}
		splits[split] = true
	}
	if len(splits) < 5 {
		t.Errorf("the buckets of 30 testers do not depend on the seed: %v", splits)
	}
}

// TestUpdateLabelsKeepsDistributionKeys changes how pods are packed that were created otherwise.
func TestUpdateLabelsKeepsDistributionKeys(t *testing.T) {
	for name, config := range map[string]*v1beta2.DistributionConfig{
		"fewer fault domains": stagestest.Packs(2, v1beta2.BinPackClass), "another mode": stagestest.Packs(3, v1beta2.BinPackAll), "no packing": nil,
	} {
		s := stagestest.PackedCluster(t, stagestest.Packs(3, v1beta2.BinPackClass), 1, 2, 3)
		stagestest.Packing(config)(&s)
		if d := UpdateLabels.Decide(s); len(d.Actions) > 0 {
			t.Errorf("%s: %v", name, stagestest.Described(d))
		}
		g := s.Cluster.ProcessGroup("storage-2")
		delete(s.Pod(g).Labels, v1beta2.LabelProcessGroupID)
		d := UpdateLabels.Decide(s)
		if len(d.Actions) != 1 {
			t.Fatalf("%s: %v", name, stagestest.Described(d))
		}
		if patch := d.Actions[0].(plan.PatchMetadata); len(patch.Labels) != 1 || patch.Labels[v1beta2.LabelDistributionKey] != "" {
			t.Errorf("%s: patches %v", name, patch.Labels)
		}
		if key := objects.DistributionKeyOf(s.Pod(g)); key != "storage-2" {
			t.Errorf("%s: the key is %s", name, key)
		}
	}
}
