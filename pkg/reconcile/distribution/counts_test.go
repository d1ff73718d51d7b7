package distribution

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func packing(domains int, pack v1beta2.BinPack) Distribution {
	return Distribution{v1beta2.DistributionSettings{Enabled: true, DesiredFaultDomains: domains, BinPack: pack}}
}

// made is a process group and the key that its pod was created with; empty for none.
type made struct {
	number int
	key    string
}

// marked returns the indexes of the groups that have to be replaced, in their order: those whose
// key differs, and the excess of the others.
func marked(d Distribution, groups []made, total int) []int {
	members := make([]Member, len(groups))
	var all []int
	for i, g := range groups {
		members[i] = Member{Bucket: d.Bucket(g.number), Leaves: g.key != d.Key(v1beta2.ProcessClassStorage, d.Bucket(g.number))}
		if members[i].Leaves {
			all = append(all, i)
		}
	}
	all = append(all, Excess(members, total, d.Domains())...)
	slices.Sort(all)
	return all
}

// created are groups with these numbers and the keys of a distribution.
func created(d Distribution, numbers ...int) []made {
	groups := make([]made, len(numbers))
	for i, n := range numbers {
		groups[i] = made{n, d.Key(v1beta2.ProcessClassStorage, d.Bucket(n))}
	}
	return groups
}

func countsOf(d Distribution, groups []made) Counts {
	counts := make(Counts, d.Domains())
	for _, g := range groups {
		counts[d.Bucket(g.number)]++
	}
	return counts
}

// fill adds groups until there are as many as total, as new process groups are added.
func fill(d Distribution, groups []made, total int, next *int) []made {
	t := Tally{d, map[v1beta2.ProcessClass]Counts{}, map[string]Counts{}}
	for _, g := range groups {
		t.Add(v1beta2.ProcessClassStorage, d.Bucket(g.number))
	}
	groups = slices.Clone(groups)
	for len(groups) < total {
		bucket, _ := t.Emptiest(v1beta2.ProcessClassStorage, nil)
		for *next++; d.Bucket(*next) != bucket; {
			*next++
		}
		t.Add(v1beta2.ProcessClassStorage, bucket)
		groups = append(groups, made{*next, d.Key(v1beta2.ProcessClassStorage, bucket)})
	}
	return groups
}

// fewest returns the fewest of the groups that have to leave, by trying every balanced result.
func fewest(d Distribution, groups []made, total int) int {
	present := make(Counts, d.Domains())
	for _, g := range groups {
		if g.key == d.Key(v1beta2.ProcessClassStorage, d.Bucket(g.number)) {
			present[d.Bucket(g.number)]++
		}
	}
	best := 0
	var choose func(bucket, larger, stay int)
	choose = func(bucket, larger, stay int) {
		if bucket == len(present) {
			if larger == 0 {
				best = max(best, stay)
			}
			return
		}
		least := total / len(present)
		choose(bucket+1, larger, stay+min(present[bucket], least))
		if larger > 0 {
			choose(bucket+1, larger-1, stay+min(present[bucket], least+1))
		}
	}
	choose(0, total%len(present), 0)
	return len(groups) - best
}

// TestADistributionChangeReplacesTheFewestGroupsAndEndsBalanced changes the desired fault domains of groups with
// random numbers, with every budget, and replaces as the stages do.
func TestADistributionChangeReplacesTheFewestGroupsAndEndsBalanced(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		before, after := packing(1+random.IntN(6), v1beta2.BinPackClass), packing(1+random.IntN(6), v1beta2.BinPackClass)
		total, budget := 1+random.IntN(12), 1+random.IntN(12)
		next := 100_000
		var groups []made
		switch random.IntN(3) {
		case 0: // the pods have no key yet
			for _, n := range random.Perm(60)[:total] {
				groups = append(groups, made{number: n + 1})
			}
		case 1: // the numbers fit nothing
			for _, n := range random.Perm(60)[:total] {
				groups = append(groups, created(before, n+1)...)
			}
		default: // the numbers were drawn to fit
			groups = fill(before, nil, total, &next)
		}
		name := fmt.Sprintf("%v from %d to %d domains, %d at once", groups, before.Domains(), after.Domains(), budget)
		moved, want := 0, fewest(after, groups, total)
		for round := 0; ; round++ {
			away := marked(after, groups, total)
			if len(away) == 0 {
				break
			}
			if round > total {
				t.Fatalf("%s: no end", name)
			}
			away = away[:min(budget, len(away))]
			moved += len(away)
			var stay []made
			for i, g := range groups {
				if !slices.Contains(away, i) {
					stay = append(stay, g)
				}
			}
			groups = fill(after, stay, total, &next)
		}
		if moved != want {
			t.Fatalf("%s: %d are replaced, and %d are enough", name, moved, want)
		}
		if counts := countsOf(after, groups); !counts.Balanced() {
			t.Fatalf("%s: ends with %v", name, counts)
		}
	}
}

// TestProcessGroupsStayBalancedOverBuckets adds and loses groups, as many as desired and fewer or more of them.
func TestProcessGroupsStayBalancedOverBuckets(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 2_000 {
		d, next := packing(1+random.IntN(6), v1beta2.BinPackClass), 0
		groups := fill(d, nil, random.IntN(12), &next)
		for range 10 {
			lost := random.IntN(len(groups) + 1)
			random.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
			groups = fill(d, groups[lost:], len(groups)+random.IntN(3), &next)
			if counts := countsOf(d, groups); !counts.Balanced() {
				t.Fatalf("%v are %v", groups, counts)
			}
		}
	}
}

// TestDistributionCountsMatchTheDocumentedExamples has the examples of the documentation, with their numbers.
func TestDistributionCountsMatchTheDocumentedExamples(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to int
		numbers  []int
		without  bool // pods without a key
		leave    []int
		end      Counts
	}{
		"4 storage, 4 to 2":         {from: 4, to: 2, numbers: []int{1, 2, 3, 4}, leave: []int{2, 3}, end: Counts{2, 2}},
		"4 storage, 2 to 4":         {from: 2, to: 4, numbers: []int{1, 2, 3, 4}, leave: []int{2, 3}, end: Counts{1, 1, 1, 1}},
		"unlucky numbers, 2 to 4":   {from: 2, to: 4, numbers: []int{1, 2, 5, 6}, leave: []int{2, 5, 6}, end: Counts{1, 1, 1, 1}},
		"6 pods, 3 to 4":            {from: 3, to: 4, numbers: []int{1, 2, 3, 4, 5, 6}, leave: []int{3, 4, 5, 6}, end: Counts{2, 2, 1, 1}},
		"6 pods, 3 to 2":            {from: 3, to: 2, numbers: []int{1, 2, 3, 4, 5, 6}, leave: []int{2, 3, 4, 5}, end: Counts{3, 3}},
		"enabled for 17, 20, 23":    {to: 3, numbers: []int{17, 20, 23}, without: true, leave: []int{17, 20, 23}, end: Counts{1, 1, 1}},
		"a bucket of 4 among 10 of": {from: 4, to: 4, numbers: []int{4, 8, 12, 16, 1, 5, 2, 6, 3, 7}, leave: []int{16}, end: Counts{3, 3, 2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			d := packing(tc.to, v1beta2.BinPackClass)
			groups := created(packing(max(tc.from, 1), v1beta2.BinPackClass), tc.numbers...)
			if tc.without {
				for i := range groups {
					groups[i].key = ""
				}
			}
			away := marked(d, groups, len(groups))
			var leave []int
			var stay []made
			for i, g := range groups {
				if slices.Contains(away, i) {
					leave = append(leave, g.number)
				} else {
					stay = append(stay, g)
				}
			}
			if diff := cmp.Diff(tc.leave, leave); diff != "" {
				t.Errorf("replaced (-want +got):\n%s", diff)
			}
			next := 100
			if diff := cmp.Diff(tc.end, countsOf(d, fill(d, stay, len(groups), &next))); diff != "" {
				t.Errorf("buckets (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGroupsAlreadyBeingRemovedCountAsExcess counts one of two in a bucket that leaves for another reason.
func TestGroupsAlreadyBeingRemovedCountAsExcess(t *testing.T) {
	members := []Member{{Bucket: 0}, {Bucket: 0, Leaves: true}, {Bucket: 1}}
	if got := Excess(members, 3, 3); len(got) != 0 {
		t.Errorf("%v leave as well", got)
	}
	members[1].Leaves = false
	if diff := cmp.Diff([]int{1}, Excess(members, 3, 3)); diff != "" {
		t.Errorf("excess (-want +got):\n%s", diff)
	}
}

// TestBucketExcessDependsOnTheDesiredCount has fewer process groups than desired.
func TestBucketExcessDependsOnTheDesiredCount(t *testing.T) {
	members := []Member{{Bucket: 0}, {Bucket: 0}, {Bucket: 0}}
	if got := Excess(members, 10, 4); len(got) != 0 {
		t.Errorf("%v leave, and 3 of 10 may be in a bucket of 4", got)
	}
	if got := Excess(members, 4, 4); len(got) != 2 {
		t.Errorf("%v leave, and 1 of 4 may be in a bucket of 4", got)
	}
}

// newCluster adds the process groups of a new cluster, class by class.
func newCluster(d Distribution, counts map[v1beta2.ProcessClass]int) Tally {
	t := d.Count(nil)
	for _, class := range []v1beta2.ProcessClass{v1beta2.ProcessClassLog, v1beta2.ProcessClassStateless, v1beta2.ProcessClassStorage} {
		for range counts[class] {
			bucket, _ := t.Emptiest(class, nil)
			t.Add(class, bucket)
		}
	}
	return t
}

func TestNewClustersFillDistributionBucketsEvenly(t *testing.T) {
	counts := map[v1beta2.ProcessClass]int{v1beta2.ProcessClassStorage: 3, v1beta2.ProcessClassLog: 4, v1beta2.ProcessClassStateless: 9}
	const storage, log, stateless = v1beta2.ProcessClassStorage, v1beta2.ProcessClassLog, v1beta2.ProcessClassStateless
	for pack, want := range map[v1beta2.BinPack]map[v1beta2.ProcessClass][2]Counts{ // of the class, of its pack
		v1beta2.BinPackClass: {storage: {{1, 1, 1}, {1, 1, 1}}, log: {{2, 1, 1}, {2, 1, 1}}, stateless: {{3, 3, 3}, {3, 3, 3}}},
		v1beta2.BinPackAll:   {storage: {{1, 1, 1}, {6, 5, 5}}, log: {{2, 1, 1}, {6, 5, 5}}, stateless: {{3, 3, 3}, {6, 5, 5}}},
		v1beta2.BinPackStateful: {
			storage: {{1, 1, 1}, {3, 2, 2}}, log: {{2, 1, 1}, {3, 2, 2}}, stateless: {{3, 3, 3}, {3, 3, 3}},
		},
	} {
		tally := newCluster(packing(3, pack), counts)
		for class, counts := range want {
			if diff := cmp.Diff(counts, [2]Counts{tally.Of(class), tally.OfPack(class)}); diff != "" {
				t.Errorf("%s, %s: buckets of the class and its pack (-want +got):\n%s", pack, class, diff)
			}
		}
	}
}

// TestTheEmptiestAndFullestBucketAreChosen has the buckets of a class and of another of its pack.
func TestTheEmptiestAndFullestBucketAreChosen(t *testing.T) {
	const own, other = v1beta2.ProcessClassStorage, v1beta2.ProcessClassLog
	for name, tc := range map[string]struct {
		own, other Counts
		closed     map[int]bool
		emptiest   int
		fullest    int
	}{
		"the lowest of equal ones, and the highest": {Counts{1, 1, 1}, Counts{1, 1, 1}, nil, 0, 2},
		"the class decides before the pack":         {Counts{1, 0, 1}, Counts{0, 9, 0}, nil, 1, 2},
		"then the pack":                             {Counts{1, 1, 1}, Counts{2, 2, 1}, nil, 2, 1},
		"a closed one is omitted":                   {Counts{0, 1, 1}, Counts{0, 0, 0}, map[int]bool{0: true}, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			tally := packing(3, v1beta2.BinPackStateful).Count(nil)
			for b := range tc.own {
				for range tc.own[b] {
					tally.Add(own, b)
				}
				for range tc.other[b] {
					tally.Add(other, b)
				}
			}
			if got, found := tally.Emptiest(own, tc.closed); got != tc.emptiest || !found {
				t.Errorf("emptiest is %d, want %d", got, tc.emptiest)
			}
			if got := tally.Fullest(own, []int{0, 1, 2}); got != tc.fullest {
				t.Errorf("fullest is %d, want %d", got, tc.fullest)
			}
		})
	}
	if b, found := packing(2, v1beta2.BinPackAll).Count(nil).Emptiest(own, map[int]bool{0: true, 1: true}); found {
		t.Errorf("bucket %d of two closed ones", b)
	}
}
