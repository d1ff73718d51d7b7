package readings

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// anyCandidates is up to most candidates over a few zones, each in one data center.
func anyCandidates(random *rand.Rand, most int) []Candidate {
	zones, dcs := 1+random.IntN(5), 1+random.IntN(3)
	candidates := make([]Candidate, 1+random.IntN(most))
	for i := range candidates {
		zone := random.IntN(zones)
		candidates[i] = Candidate{
			Group: v1beta2.ProcessGroupID(fmt.Sprintf("storage-%d", i)), Priority: random.IntN(2),
			Localities: map[string]string{fdb.LocalityZoneID: fmt.Sprintf("zone-%d", zone), fdb.LocalityDCID: fmt.Sprintf("dc-%d", zone%dcs)},
		}
	}
	return candidates
}

func anyRule(random *rand.Rand) SpreadRule {
	rule := SpreadRule{Fields: []string{fdb.LocalityZoneID, fdb.LocalityDCID}, Max: map[string]int{}}
	if random.IntN(2) == 0 {
		rule.Max[fdb.LocalityZoneID] = 1 + random.IntN(2)
	}
	if random.IntN(2) == 0 {
		rule.Max[fdb.LocalityDCID] = 1 + random.IntN(3)
	}
	if random.IntN(2) == 0 {
		rule.Primary = "dc-0"
	}
	return rule
}

func shares(chosen []Candidate, field string) map[string]int {
	counts := map[string]int{}
	for _, c := range chosen {
		counts[c.Localities[field]]++
	}
	return counts
}

func TestSpreadNeverExceedsItsLimits(t *testing.T) {
	spread, limited := 0, 0
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 3))
		candidates, rule, count := anyCandidates(random, 12), anyRule(random), 1+random.IntN(6)
		chosen, err := Spread(candidates, count, rule)
		if err != nil {
			continue
		}
		spread++
		if len(rule.Max) > 0 {
			limited++
		}
		if len(chosen) != count {
			t.Fatalf("seed %d: chose %d of %d", seed, len(chosen), count)
		}
		taken := map[v1beta2.ProcessGroupID]bool{}
		for _, c := range chosen {
			if taken[c.Group] {
				t.Fatalf("seed %d: chose %s twice", seed, c.Group)
			}
			taken[c.Group] = true
		}
		for field, most := range rule.Max {
			for value, n := range shares(chosen, field) {
				if n > most {
					t.Fatalf("seed %d: %d share %s %s, at most %d may", seed, n, field, value, most)
				}
			}
		}
	}
	if spread < 1000 || limited < 600 {
		t.Errorf("only %d selections, %d of them with limits", spread, limited)
	}
}

func TestSpreadIgnoresTheOrderOfCandidates(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 4))
		candidates, rule, count := anyCandidates(random, 12), anyRule(random), 1+random.IntN(6)
		want, wantErr := Spread(candidates, count, rule)
		random.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
		got, gotErr := Spread(candidates, count, rule)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Candidate{})); diff != "" || (wantErr == nil) != (gotErr == nil) {
			t.Fatalf("seed %d: the order of the candidates matters (-want +got):\n%s", seed, diff)
		}
	}
}

// mostValues tries every choice and returns how many values of a field the best one covers, and
// whether any fits the limits at all.
func mostValues(candidates []Candidate, count int, rule SpreadRule, field string) (best int, possible bool) {
	for set := range 1 << len(candidates) {
		var chosen []Candidate
		for i, c := range candidates {
			if set&(1<<i) != 0 {
				chosen = append(chosen, c)
			}
		}
		if len(chosen) != count || !allowed(chosen, rule) {
			continue
		}
		best, possible = max(best, len(shares(chosen, field))), true
	}
	return best, possible
}

func allowed(chosen []Candidate, rule SpreadRule) bool {
	for field, most := range rule.Max {
		for _, n := range shares(chosen, field) {
			if n > most {
				return false
			}
		}
	}
	return true
}

// Fault domains matter most: no choice covers more of them.
func TestSpreadCoversTheMostZonesPossible(t *testing.T) {
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 5))
		candidates, rule, count := anyCandidates(random, 9), anyRule(random), 1+random.IntN(5)
		delete(rule.Max, fdb.LocalityDCID)
		best, possible := mostValues(candidates, count, rule, fdb.LocalityZoneID)
		chosen, err := Spread(candidates, count, rule)
		if possible != (err == nil) {
			t.Fatalf("seed %d: a choice exists: %t, spread met %v", seed, possible, err)
		}
		if got := len(shares(chosen, fdb.LocalityZoneID)); got != best {
			t.Fatalf("seed %d: chose %d zones, %d are possible", seed, got, best)
		}
	}
}

func TestSpreadPrefersPriorityAndDistinctDataCenters(t *testing.T) {
	in := func(id string, priority int, zone, dc string) Candidate {
		return Candidate{Group: v1beta2.ProcessGroupID(id), Priority: priority, Localities: map[string]string{fdb.LocalityZoneID: zone, fdb.LocalityDCID: dc}}
	}
	everywhere := SpreadRule{Fields: []string{fdb.LocalityZoneID, fdb.LocalityDCID}, Max: map[string]int{fdb.LocalityZoneID: 1}}
	primary := everywhere
	primary.Primary = "b"
	tests := map[string]struct {
		candidates []Candidate
		count      int
		rule       SpreadRule
		want       []string
		fails      bool
	}{
		"the one with the higher priority": {[]Candidate{in("a", 1, "1", "a"), in("b", 2, "2", "a")}, 1, everywhere, []string{"b"}, false},
		"of equals the first by ID":        {[]Candidate{in("b", 1, "1", "a"), in("a", 1, "2", "a")}, 1, everywhere, []string{"a"}, false},
		"the primary data center's first":  {[]Candidate{in("a", 9, "1", "a"), in("b", 1, "2", "b")}, 1, primary, []string{"b"}, false},
		"one of each data center before a second": {
			[]Candidate{in("a", 1, "1", "a"), in("b", 1, "2", "a"), in("c", 1, "3", "b")}, 2, everywhere, []string{"a", "c"}, false,
		},
		"a second of a data center rather than of a zone": {
			[]Candidate{in("a", 1, "1", "a"), in("b", 1, "1", "b"), in("c", 1, "2", "a")}, 2, everywhere, []string{"a", "c"}, false,
		},
		"none when the limits leave too few": {[]Candidate{in("a", 1, "1", "a"), in("b", 1, "1", "a")}, 2, everywhere, nil, true},
		"none of none":                       {nil, 1, everywhere, nil, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			chosen, err := Spread(tc.candidates, tc.count, tc.rule)
			if (err != nil) != tc.fails {
				t.Fatalf("met %v", err)
			}
			var got []string
			for _, c := range chosen {
				got = append(got, string(c.Group))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("chosen (-want +got):\n%s", diff)
			}
		})
	}
}
