package cluster

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/distribution"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

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
