package ui

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
)

func TestAForecastThatDoesNotCompleteHasItsEnd(t *testing.T) {
	for want, f := range map[string]planned.Forecast{
		"blocked in 2 passes with 0 actions: manual intervention is required":                                          {End: planned.ForecastBlocked, Passes: 2},
		"blocked after about 2m, in 26 passes with 0 actions: manual intervention is required":                         {End: planned.ForecastBlocked, Passes: 26, Seconds: 120},
		"not complete after about 2m, in 1 pass with 0 actions: it waits for something that does not happen by itself": {End: planned.ForecastWaiting, Passes: 1, Seconds: 120},
		"begun after about 16s, in 1 pass with 1 action; later passes complete it, forecast by --wait":                 {End: planned.ForecastComplete, Passes: 1, Seconds: 16, Begins: true, Totals: planned.ForecastTotals{Actions: 1}},
	} {
		if got := forecastSentence(&f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
