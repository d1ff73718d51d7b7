package planned

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestSingleFaultsAreSummarized(t *testing.T) {
	done := SingleFault{End: ForecastComplete, PausedSeconds: 9, FewestCopies: 2}
	fewer := SingleFault{End: ForecastComplete, PausedSeconds: 3, FewestCopies: 1}
	stuck := SingleFault{End: ForecastBlocked, FewestCopies: 2}
	broken := SingleFault{End: ForecastUnfinished, FewestCopies: 0, Violations: []BrokenInvariant{{Invariant: losesData}}}
	tests := map[string]struct {
		histories []SingleFault
		want      SingleFaults
	}{
		"none":                            {want: SingleFaults{}},
		"the fewest copies are worse":     {[]SingleFault{done, fewer}, SingleFaults{Complete: 2, MostPausedSeconds: 9, FewestCopies: 1, Worst: new(1)}},
		"one that is stuck is worse":      {[]SingleFault{fewer, stuck}, SingleFaults{Complete: 1, Stuck: 1, MostPausedSeconds: 3, FewestCopies: 1, Worst: new(1)}},
		"a broken invariant is the worst": {[]SingleFault{broken, stuck}, SingleFaults{Stuck: 1, Broken: 1, DataLost: 1, Worst: new(0)}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			got := SingleFaults{Histories: c.histories}.Summed()
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(SingleFaults{}, "Histories")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
