package ui

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
)

func TestAForecastThatDoesNotCompleteHasItsEnd(t *testing.T) {
	const blocked = "blocked before any action: manual intervention is required"
	for name, tc := range map[string]struct {
		forecast planned.Forecast
		want     string
	}{
		"at once":                    {planned.Forecast{End: planned.ForecastBlocked, Passes: 2}, blocked},
		"after passes that only ask": {planned.Forecast{End: planned.ForecastBlocked, Passes: 26, Seconds: 120}, blocked},
		"after an action": {
			planned.Forecast{End: planned.ForecastBlocked, Passes: 2, Seconds: 120, Totals: planned.ForecastTotals{Actions: 1}},
			"blocked after about 2m, in 2 passes with 1 action: manual intervention is required",
		},
		"while it waits": {
			planned.Forecast{End: planned.ForecastWaiting, Passes: 1, Seconds: 120},
			"not complete after about 2m, in 1 pass with 0 actions: it waits for something that does not happen by itself",
		},
		"begun by one pass": {
			planned.Forecast{End: planned.ForecastComplete, Passes: 1, Seconds: 16, Begins: true, Totals: planned.ForecastTotals{Actions: 1}},
			"begun after about 16s, in 1 pass with 1 action; later passes complete it, forecast by --wait",
		},
	} {
		if got := ForecastSentence(&tc.forecast); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
