package stable

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type pair struct{ key, place int }

func byKey(a, b pair) int { return cmp.Compare(a.key, b.key) }

func TestSortIsStableAndEqualToPackageSlices(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		got := make([]pair, n)
		for i := range got {
			got[i] = pair{random.IntN(10), i}
		}
		want := slices.Clone(got)
		slices.SortStableFunc(want, byKey)
		if Sort(got, byKey); !slices.Equal(got, want) {
			t.Fatalf("sorted to %v, want %v", got, want)
		}
	}
}
