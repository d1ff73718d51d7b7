package monitor

import (
	"testing"
	"time"
)

func TestAForecastIsMadeAgainForOtherActionsAndNotTooOften(t *testing.T) {
	noon := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	last := foresight{digest: "a", made: noon, took: 2 * time.Second}
	tests := map[string]struct {
		last          foresight
		digest        string
		after         time.Duration
		wantSame, due bool
	}{
		"the first one":                         {digest: "a", due: true},
		"the same actions":                      {last: last, digest: "a", after: time.Minute, wantSame: true, due: true},
		"the same actions after a long time":    {last: last, digest: "a", after: 5 * time.Minute, due: true},
		"others at once":                        {last: last, digest: "b", after: 30 * time.Second},
		"others after 20 times of what it took": {last: last, digest: "b", after: 40 * time.Second, due: true},
	}
	for name, tc := range tests {
		now := noon.Add(tc.after)
		if same, due := tc.last.isOf(tc.digest, now), tc.last.isDue(now); same != tc.wantSame || due != tc.due {
			t.Errorf("%s: the same %t, due %t", name, same, due)
		}
	}
}
