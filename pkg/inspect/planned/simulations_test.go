package planned

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestSimulationResultsAreSummarized(t *testing.T) {
	done := func(seed uint64, seconds, paused float64, copies int) Simulation {
		return Simulation{Seed: seed, End: ForecastComplete, Seconds: seconds, PausedSeconds: paused, FewestCopies: copies}
	}
	blocked := Simulation{Seed: 9, End: ForecastBlocked, Seconds: 5, FewestCopies: 3}
	tests := map[string]struct {
		runs []Simulation
		want Simulations
	}{
		"none": {want: Simulations{}},
		"one":  {runs: []Simulation{done(1, 60, 2, 2)}, want: Simulations{Complete: 1, MedianSeconds: 60, SlowSeconds: 60, MostPausedSeconds: 2, FewestCopies: 2, Worst: 1}},
		"the fewest copies are the worst": {
			runs: []Simulation{done(1, 60, 9, 2), done(2, 10, 1, 1), done(3, 90, 3, 2)},
			want: Simulations{Complete: 3, MedianSeconds: 60, SlowSeconds: 90, MostPausedSeconds: 9, FewestCopies: 1, Worst: 2},
		},
		"one that does not complete is worse": {
			runs: []Simulation{done(1, 60, 9, 0), blocked},
			want: Simulations{Complete: 1, MedianSeconds: 60, SlowSeconds: 60, MostPausedSeconds: 9, Worst: 9},
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			got := Simulations{Runs: c.runs}.Summed()
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(Simulations{}, "Runs")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
