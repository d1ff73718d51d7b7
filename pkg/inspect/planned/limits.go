package planned

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Limit is the most that a total of a forecast may be.
type Limit struct {
	// Total is the name of a field of the totals of a forecast, or "seconds".
	Total string  `json:"total"`
	Most  float64 `json:"most"`
	// Have is the total; null where it is unknown: without a forecast, or if it does not complete.
	Have *float64 `json:"have"`
	// Exceeded is true for a total above the limit, and for an unknown one.
	Exceeded bool `json:"exceeded"`
}

// seconds is how long a forecast takes, which is no field of its totals.
const seconds = "seconds"

// ParseLimits parses TOTAL=NUMBER,…, such as recoveries=2,movedBytes=100Gi,pausedSeconds=30s.
func ParseLimits(text string) (all []Limit, err error) {
	known := slices.Sorted(maps.Keys(totalsOf(Forecast{})))
	for part := range strings.SplitSeq(text, ",") {
		name, most, found := strings.Cut(part, "=")
		name, most = strings.TrimSpace(name), strings.TrimSpace(most)
		switch {
		case !found:
			return nil, fmt.Errorf("%q must be TOTAL=NUMBER", part)
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("unknown total %q: must be one of %s%s", name, strings.Join(known, ", "), phrase.OrMeant(name, known))
		}
		number, err := parseNumber(most)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, Limit{Total: name, Most: number})
	}
	return all, nil
}

// parseNumber parses a number, a quantity such as 100Gi, or a duration.
func parseNumber(text string) (float64, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d.Seconds(), nil
	}
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() < 0 {
		return 0, fmt.Errorf("%q must be a number, a quantity such as 100Gi or a duration such as 30s, and not negative", text)
	}
	return q.AsApproximateFloat64(), nil
}

// totalsOf returns the totals of a forecast by their names.
func totalsOf(f Forecast) map[string]float64 {
	all := map[string]float64{}
	text, err := json.Marshal(f.Totals)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		panic(err) // all totals are numbers
	}
	all[seconds] = f.Seconds
	return all
}

// Within returns the limits with the totals of the plan. A plan with nothing to do is within all of them; one whose
// forecast does not complete is within none, since its totals are a part.
func (v PlanView) Within(limits []Limit) []Limit {
	limits = slices.Clone(limits)
	complete := v.Forecast != nil && v.Forecast.End == ForecastComplete
	totals := map[string]float64{}
	if complete {
		totals = totalsOf(*v.Forecast)
	}
	idle := v.Forecast == nil && v.Work() == 0 && len(v.Holds) == 0
	for i, l := range limits {
		if have, known := totals[l.Total]; known || idle {
			limits[i].Have, limits[i].Exceeded = &have, have > l.Most
			continue
		}
		limits[i].Exceeded = true
	}
	return limits
}

// Text describes how a total exceeds its limit.
func (l Limit) Text() string {
	if l.Have == nil {
		return fmt.Sprintf("%s unknown, at most %s", l.Total, l.number(l.Most))
	}
	return fmt.Sprintf("%s %s, at most %s", l.Total, l.number(*l.Have), l.number(l.Most))
}

func (l Limit) number(n float64) string {
	switch {
	case strings.HasSuffix(l.Total, "Bytes"):
		return phrase.Bytes(int64(n))
	case strings.HasSuffix(strings.ToLower(l.Total), seconds):
		return phrase.Duration(time.Duration(n * float64(time.Second)))
	default:
		return fmt.Sprintf("%.0f", n)
	}
}

// Exceeded describes the limits that the plan exceeds.
func (v PlanView) Exceeded() (all []string) {
	for _, l := range v.Limits {
		if l.Exceeded {
			all = append(all, l.Text())
		}
	}
	return all
}
