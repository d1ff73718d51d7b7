package planned

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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

// ChangeGroup is a row of a list of changes: actions of a stage that differ in their objects alone, or those that only
// record what passes observe.
type ChangeGroup struct {
	plan.Change
	Stage  plan.StageName
	Kind   string
	Impact plan.Impact
	// Items are the actions, at least one.
	Items []PlanItem
}

// ChangeGroups returns the actions of a plan in the order of the first ones.
func (v PlanView) ChangeGroups() []ChangeGroup {
	var all []ChangeGroup
	for _, item := range v.Items {
		if at := slices.IndexFunc(all, func(g ChangeGroup) bool { return g.takes(item) }); at >= 0 {
			all[at].Items = append(all[at].Items, item)
			continue
		}
		all = append(all, ChangeGroup{
			Change: plan.ChangeOf(item.Kind, item.Details), Stage: item.Stage, Kind: item.Kind, Impact: item.Impact, Items: []PlanItem{item},
		})
	}
	return all
}

// takes reports whether an action is the same as those of the group, on another object.
func (g ChangeGroup) takes(item PlanItem) bool {
	if g.Kind != item.Kind || g.Impact != item.Impact || g.Stage != item.Stage && !plan.RecordsKind(item.Kind) {
		return false
	}
	one, isOne := g.Items[0].Details.(plan.Repeated)
	other, isOther := item.Details.(plan.Repeated)
	return !isOne || !isOther || one.What() == other.What()
}

// Reason is the reason of the actions; empty for none.
func (g ChangeGroup) Reason() string { return g.Items[0].Why }

// IsDescribed reports whether Objects describes an action, instead of naming its objects.
func (g ChangeGroup) IsDescribed() bool { return !g.Named && len(g.Items) == 1 }

// IsProvisional reports whether any of the actions is decided again once earlier stages have acted.
func (g ChangeGroup) IsProvisional() bool {
	return slices.ContainsFunc(g.Items, func(item PlanItem) bool { return len(item.Provisional) > 0 })
}

// Objects describes what the actions are about: their objects, at most so many by name, or what is done to them.
func (g ChangeGroup) Objects(most int) string {
	first := g.Items[0]
	same, repeated := first.Details.(plan.Repeated)
	switch {
	case g.IsDescribed():
		return first.Summary
	case !g.Named && repeated:
		return same.Together(len(g.Items))
	default:
		return NumberedNames(g.subjects(), most)
	}
}

// subjects are the objects of the actions: their process groups, else what they name.
func (g ChangeGroup) subjects() []string {
	var names []string
	for _, item := range g.Items {
		if c, is := item.Details.(plan.ChangeCoordinators); is {
			names = append(names, c.Hosts()...)
		} else if len(item.Groups) > 0 {
			names = append(names, item.Groups...)
		} else if !slices.Contains(names, item.Subject) {
			names = append(names, item.Subject)
		}
	}
	return names
}

// NumberedNames returns names, each once and at most so many: more than that have their number before them.
func NumberedNames(names []string, most int) string {
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	switch {
	case len(names) <= most:
		return phrase.List(once)
	case len(once) <= most:
		return strconv.Itoa(len(names)) + ": " + phrase.List(once)
	default:
		return strconv.Itoa(len(names)) + ": " + phrase.List(once[:most]) + " .."
	}
}

// Add adds an action, as far as it shows what it does to pods, processes and process groups.
func (t *ForecastTotals) Add(a plan.Action) {
	t.Actions++
	switch a := a.(type) { //nolint:gochecksumtype // all others change no pods and no processes
	case plan.CreatePod:
		t.PodsCreated++
	case plan.DeletePods:
		t.PodsDeleted += len(a.Pods)
	case plan.DeleteGroupObjects:
		if a.Pod != "" {
			t.PodsDeleted++
		}
	case plan.IncludeAndForget:
		t.GroupsRemoved += len(a.Groups)
	case plan.RestartProcesses:
		t.ProcessesRestarted += len(a.Addresses)
		t.MostAtOnce = max(t.MostAtOnce, len(a.Addresses))
	}
}

// Totals returns the sums of all passes, those of the forecast; without one those of the next pass, as far as its
// actions show them.
func (v PlanView) Totals() ForecastTotals {
	if v.Foresees() {
		return v.Forecast.Totals
	}
	var t ForecastTotals
	for _, item := range v.Items {
		if !item.Bookkeeping {
			t.addItem(item)
		}
	}
	return t
}

// addItem adds an item; one of a recording has no details, and counts by its kind.
func (t *ForecastTotals) addItem(item PlanItem) {
	if item.Details != nil {
		t.Add(item.Details)
		return
	}
	t.Actions++
	switch item.Kind {
	case plan.KindOf(plan.CreatePod{}):
		t.PodsCreated++
	case plan.KindOf(plan.DeletePods{}), plan.KindOf(plan.DeleteGroupObjects{}):
		t.PodsDeleted += len(item.Groups)
	case plan.KindOf(plan.RestartProcesses{}):
		t.ProcessesRestarted += len(item.Groups)
	}
}

// Foresees reports whether the plan has a forecast.
func (v PlanView) Foresees() bool { return v.Forecast != nil && v.Forecast.Unavailable == nil }
