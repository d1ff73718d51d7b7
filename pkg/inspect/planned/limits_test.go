package planned

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLimitsOfAForecastFailClosed(t *testing.T) {
	complete := func(f func(*Forecast)) PlanView {
		v := PlanView{Items: []PlanItem{{}}, Forecast: &Forecast{End: ForecastComplete, Seconds: 90, Totals: ForecastTotals{Recoveries: 2, MovedBytes: 3 << 30}}}
		if f != nil {
			f(v.Forecast)
		}
		return v
	}
	tests := map[string]struct {
		plan   PlanView
		limits string
		want   []string
	}{
		"within":                              {complete(nil), "recoveries=2,movedBytes=3Gi,seconds=2m", nil},
		"above":                               {complete(nil), "recoveries=1,movedBytes=2Gi,seconds=1m", []string{"recoveries 2, at most 1", "movedBytes 3.0GiB, at most 2.0GiB", "seconds 90s, at most 60s"}},
		"a forecast that does not complete":   {complete(func(f *Forecast) { f.End = ForecastBlocked }), "recoveries=9", []string{"recoveries unknown, at most 9"}},
		"no forecast of something to do":      {PlanView{Items: []PlanItem{{}}}, "recoveries=9", []string{"recoveries unknown, at most 9"}},
		"no forecast of something that waits": {PlanView{Holds: []PlanHold{{}}}, "recoveries=9", []string{"recoveries unknown, at most 9"}},
		"nothing to do":                       {PlanView{}, "recoveries=0", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			limits, err := ParseLimits(tc.limits)
			if err != nil {
				t.Fatal(err)
			}
			tc.plan.Limits = tc.plan.Within(limits)
			if diff := cmp.Diff(tc.want, tc.plan.Exceeded()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestALimitNamesATotalAndANumber(t *testing.T) {
	for text, want := range map[string]string{
		"recoveries":    "must be TOTAL=NUMBER",
		"recoveriez=2":  "did you mean recoveries?",
		"recoveries=-1": "not negative",
		"recoveries=x":  "must be a number",
		"":              "must be TOTAL=NUMBER",
	} {
		if _, err := ParseLimits(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
