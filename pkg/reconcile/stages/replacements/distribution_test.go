package replacements

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

const inClasses = v1beta2.BinPackClass

func required(config *v1beta2.DistributionConfig) *v1beta2.DistributionConfig {
	config.Required = new(true)
	return config
}

// TestDistributionReplacementsMatchTheDocumentedExamples marks what a change of the distribution replaces, of storage
// process groups only.
func TestDistributionReplacementsMatchTheDocumentedExamples(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after *v1beta2.DistributionConfig
		numbers       []int
		given         func(*testing.T, *plan.Snapshot)
		marks         []int
		why           string
	}{
		"4 storage, 4 to 2": {
			stagestest.Packs(4, inClasses), stagestest.Packs(2, inClasses),
			[]int{1, 2, 3, 4},
			nil,
			[]int{2, 3},
			"the distribution key changes from storage-2 to storage-0 (storage-2); the distribution key changes from storage-3 to storage-1 (storage-3); " +
				"2 of 4 process groups are replaced to pack pods into 2 fault domains, 2 stay; up to 6 pods at once (spec.automationOptions.maxConcurrentReplacements limits them)",
		},
		"4 storage, 2 to 4": {
			stagestest.Packs(2, inClasses), stagestest.Packs(4, inClasses),
			[]int{1, 2, 3, 4},
			nil,
			[]int{2, 3},
			"the distribution key changes from storage-0 to storage-2 (storage-2); the distribution key changes from storage-1 to storage-3 (storage-3); 2 of 4 process groups are replaced",
		},
		"unlucky numbers, 2 to 4": {
			stagestest.Packs(2, inClasses), stagestest.Packs(4, inClasses),
			[]int{1, 2, 5, 6},
			nil,
			[]int{2, 5, 6},
			"the distribution key changes from storage-0 to storage-2 (storage-2, storage-6); the distribution key storage-1 has more process groups of its class than others (storage-5); 3 of 4 process groups are replaced",
		},
		"6 pods, 3 to 4": {stagestest.Packs(3, inClasses), stagestest.Packs(4, inClasses), []int{1, 2, 3, 4, 5, 6}, nil, []int{3, 4, 5, 6}, "the distribution key changes from storage-0 to storage-2 (storage-6); "},
		"6 pods, 3 to 2": {stagestest.Packs(3, inClasses), stagestest.Packs(2, inClasses), []int{1, 2, 3, 4, 5, 6}, nil, []int{2, 3, 4, 5}, "the distribution key changes from storage-0 to storage-1 (storage-3); "},
		"enabled for 17, 20, 23": {
			nil, stagestest.Packs(3, inClasses),
			[]int{17, 20, 23},
			nil,
			[]int{17, 20, 23},
			"the pod has no distribution key (storage-17, storage-20, storage-23); 3 of 3 process groups are replaced to pack pods into 3 fault domains, 0 stay; up to 6 pods at once",
		},
		"a bucket of 4 among 10": {
			stagestest.Packs(4, inClasses), stagestest.Packs(4, inClasses),
			[]int{4, 8, 12, 16, 1, 5, 2, 6, 3, 7},
			nil,
			[]int{16},
			"the distribution key storage-0 has more process groups of its class than others (storage-16); 1 of 10 process groups is replaced",
		},

		"nothing changes":          {stagestest.Packs(3, inClasses), stagestest.Packs(3, inClasses), []int{1, 2, 3, 4}, nil, nil, ""},
		"nothing of disabled ones": {stagestest.Packs(3, inClasses), nil, []int{1, 2, 3, 4, 7}, nil, nil, ""},
		"nothing where one fits a bucket of more that are desired": {
			stagestest.Packs(2, inClasses), stagestest.Packs(2, inClasses),
			[]int{2, 4, 1},
			func(_ *testing.T, s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 5 }, nil, "",
		},
		"nothing of surplus ones, which ChooseRemovals marks": {
			stagestest.Packs(2, inClasses), stagestest.Packs(2, inClasses),
			[]int{1, 2, 3, 4},
			func(_ *testing.T, s *plan.Snapshot) { s.Cluster.Spec.ProcessCounts.Storage = 2 }, nil, "",
		},
		"another mode":   {stagestest.Packs(3, inClasses), stagestest.Packs(3, v1beta2.BinPackAll), []int{1, 2, 3}, nil, []int{1, 2, 3}, "the distribution key changes from storage-0 to all-0 (storage-3); "},
		"it is required": {stagestest.Packs(3, inClasses), required(stagestest.Packs(3, inClasses)), []int{1, 2, 3}, nil, []int{1, 2, 3}, "spec.distributionConfig.required changes to true (storage-1, storage-2, storage-3); "},
		"another fault domain key": {
			stagestest.Packs(3, inClasses), stagestest.Packs(3, inClasses),
			[]int{1, 2, 3},
			func(_ *testing.T, s *plan.Snapshot) {
				s.Cluster.Spec.FaultDomain = v1beta2.FoundationDBClusterFaultDomain{Key: "rack", ValueFrom: "$RACK"}
			},
			[]int{1, 2, 3},
			"the fault domain key of the distribution changes from kubernetes.io/hostname to rack (",
		},
		"first those that another reason replaces": {
			stagestest.Packs(3, inClasses), stagestest.Packs(3, inClasses),
			[]int{1, 4, 2, 5, 3, 7},
			func(_ *testing.T, s *plan.Snapshot) {
				g := s.Cluster.ProcessGroup("storage-1")
				s.Volumes[g.PVCName(s.Cluster)].Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
			},
			[]int{1},
			"the spec of the PVC differs (storage-1)",
		},
		"none that the spec keeps, if others can go": {
			stagestest.Packs(3, inClasses), stagestest.Packs(3, inClasses),
			[]int{1, 4, 7, 2, 3},
			func(_ *testing.T, s *plan.Snapshot) {
				s.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-7"}
			},
			[]int{4},
			"the distribution key storage-1 has more process groups of its class than others (storage-4)",
		},
		"none that a user adopted as it is": {nil, stagestest.Packs(3, inClasses), []int{1, 2, 3}, adopted, nil, ""},
		"none without a pod, whose distribution is unknown": {
			nil, stagestest.Packs(3, inClasses),
			[]int{1, 2, 3},
			func(_ *testing.T, s *plan.Snapshot) {
				delete(s.Pods, s.Cluster.ProcessGroup("storage-2").PodName(s.Cluster))
			},
			[]int{1, 3},
			"the pod has no distribution key (storage-1, storage-3); 2 of 3 process groups are replaced",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.PackedCluster(t, tc.before, tc.numbers...)
			stagestest.All(stagestest.OnlyStorage, stagestest.Packing(tc.after))(&s)
			if tc.given != nil {
				tc.given(t, &s)
			}
			d := ReplaceMisconfiguredPods(plan.Options{}).Decide(s)
			if diff := cmp.Diff(tc.marks, numbersOf(t, marked(d))); diff != "" {
				t.Errorf("marked (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(d.Why, tc.why) || (tc.why == "") != (d.Why == "") || d.Hold != nil {
				t.Errorf("because %q, held %q, want %q", d.Why, stagestest.Reason(d), tc.why)
			}
		})
	}
}

// adopted records the hashes of the current spec on all pods.
func adopted(t *testing.T, s *plan.Snapshot) {
	t.Helper()
	for _, g := range s.Groups() {
		stagestest.Adopt(t, s, g)
	}
}

func sameZoneAs(s *plan.Snapshot, id v1beta2.ProcessGroupID) func(*fdb.Process) {
	zone := s.Database.Status.ProcessesOf(string(id))[0].Locality[fdb.LocalityZoneID]
	return func(p *fdb.Process) { p.Locality[fdb.LocalityZoneID] = zone }
}

func marked(d plan.Decision) (ids []v1beta2.ProcessGroupID) {
	for _, a := range d.Actions {
		ids = append(ids, a.(plan.MarkForRemoval).Groups...)
	}
	return ids
}

func numbersOf(t *testing.T, ids []v1beta2.ProcessGroupID) (numbers []int) {
	t.Helper()
	for _, id := range ids {
		_, _, n, err := id.Split()
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}

// TestPackingRespectsMaxConcurrentReplacements replaces as many at once as the spec allows.
func TestPackingRespectsMaxConcurrentReplacements(t *testing.T) {
	for most, want := range map[int]struct {
		marks []int
		why   string
		holds string
	}{
		0: {nil, "", "maxConcurrentReplacements is 0"},
		1: {[]int{2}, "up to 5 pods at once besides drained ones (spec.automationOptions.maxConcurrentReplacements is 1)", "1 process group that does not match the spec waits to be replaced (storage-3)"},
		2: {[]int{2, 3}, "2 of 4 process groups are replaced to pack pods into 2 fault domains, 2 stay; up to 6 pods at once", ""},
	} {
		s := stagestest.PackedCluster(t, stagestest.Packs(4, inClasses), 1, 2, 3, 4)
		stagestest.All(stagestest.OnlyStorage, stagestest.Packing(stagestest.Packs(2, inClasses)))(&s)
		s.Cluster.Spec.AutomationOptions.MaxConcurrentReplacements = &most
		d := ReplaceMisconfiguredPods(plan.Options{}).Decide(s)
		if diff := cmp.Diff(want.marks, numbersOf(t, marked(d))); diff != "" {
			t.Errorf("%d at once: marked (-want +got):\n%s", most, diff)
		}
		if !strings.HasSuffix(d.Why, want.why) || !strings.Contains(stagestest.Reason(d), want.holds) || (want.holds == "") != (d.Hold == nil) {
			t.Errorf("%d at once: because %q, held %q", most, d.Why, stagestest.Reason(d))
		}
	}
}

// TestEnablingPackingReplacesEveryGroupExceptTesters enables packing for all classes.
func TestEnablingPackingReplacesEveryGroupExceptTesters(t *testing.T) {
	s := stagestest.PackedCluster(t, nil, 17, 20, 23)
	stagestest.Packing(stagestest.Packs(3, inClasses))(&s)
	s.Cluster.Status.ProcessGroups = append(s.Cluster.Status.ProcessGroups, &v1beta2.ProcessGroupStatus{ProcessGroupID: "test-1", ProcessClass: v1beta2.ProcessClassTest})
	d := ReplaceMisconfiguredPods(plan.Options{}).Decide(s)
	if got := len(marked(d)); got != 16 || slices.Contains(marked(d), "test-1") {
		t.Errorf("%d are marked, want 16, all but the tester", got)
	}
	if want := "16 of 17 process groups are replaced to pack pods into 3 fault domains, 1 stays; up to 33 pods at once"; !strings.Contains(d.Why, want) {
		t.Errorf("because %q, want %q", d.Why, want)
	}
}

// TestSurplusGroupsAreRemovedFromTheFullestBucketFirst chooses surplus storage process groups of two or three buckets.
func TestSurplusGroupsAreRemovedFromTheFullestBucketFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		numbers []int
		want    int
		given   func(*plan.Snapshot)
		marks   []int
	}{
		"of the fullest":                         {[]int{1, 4, 7, 2, 3}, 4, nil, []int{7}},
		"of the highest of equal ones":           {[]int{1, 2, 3, 4, 5, 6}, 5, nil, []int{5}},
		"of one after the other":                 {[]int{1, 4, 7, 2, 5, 3}, 3, nil, []int{4, 5, 7}},
		"of the fullest beside one that is kept": {[]int{1, 4, 5, 6}, 3, stagestest.Kept("storage-1"), []int{4}},
		"those that do not report before":        {[]int{1, 4, 7, 2, 3}, 4, func(s *plan.Snapshot) { stagestest.DropProcess(s, s.Cluster.ProcessGroup("storage-2")) }, []int{2}},
		"in a bucket those that share a fault domain": {[]int{1, 4, 7, 2, 3}, 4, func(s *plan.Snapshot) {
			stagestest.EditProcess(s, s.Cluster.ProcessGroup("storage-4"), sameZoneAs(s, "storage-1"))
		}, []int{4}},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.PackedCluster(t, stagestest.Packs(3, inClasses), tc.numbers...)
			s.Cluster.Spec.ProcessCounts.Storage = tc.want
			if tc.given != nil {
				tc.given(&s)
			}
			d := ChooseRemovals.Decide(s)
			if diff := cmp.Diff(tc.marks, numbersOf(t, marked(d))); diff != "" {
				t.Errorf("marked (-want +got):\n%s%s", diff, stagestest.Reason(d))
			}
		})
	}
}

// TestRemovingSurplusGroupsKeepsBucketsBalanced shrinks clusters of every size.
func TestRemovingSurplusGroupsKeepsBucketsBalanced(t *testing.T) {
	for size := 2; size <= 9; size++ {
		for want := 1; want < size; want++ {
			t.Run(fmt.Sprintf("%d of %d", want, size), func(t *testing.T) {
				var numbers []int
				for n := range size {
					numbers = append(numbers, n+1)
				}
				s := stagestest.PackedCluster(t, stagestest.Packs(3, inClasses), numbers...)
				s.Cluster.Spec.ProcessCounts.Storage = want
				counts := make([]int, 3)
				leaving := numbersOf(t, marked(ChooseRemovals.Decide(s)))
				for _, n := range numbers {
					if !slices.Contains(leaving, n) {
						counts[n%3]++
					}
				}
				if len(leaving) != size-want || slices.Max(counts)-slices.Min(counts) > 1 {
					t.Errorf("%v leave, %v stay", leaving, counts)
				}
			})
		}
	}
}
