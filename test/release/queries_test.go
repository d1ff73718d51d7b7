package release

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/promqltest"
)

// panelQuery is a query of the dashboard.
type panelQuery struct {
	panel, expr, legend string
}

// variables are what Grafana replaces in a query.
var variables = strings.NewReplacer("$namespace", "fdb", "$cluster", "sample", "$__rate_interval", "5m")

// dashboardQueries are the queries of all panels, and of the variables as those of series.
func dashboardQueries(t *testing.T) []panelQuery {
	t.Helper()
	text, err := os.ReadFile(readObserve("dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	var all []panelQuery
	labelValues := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	for _, v := range dashboard.Templating.List {
		if v.Type != "query" {
			continue
		}
		m := labelValues.FindStringSubmatch(v.Query)
		if m == nil {
			t.Fatalf("the variable %s has the query %s", v.Name, v.Query)
		}
		all = append(all, panelQuery{"variable " + v.Name, m[1], "{{" + m[2] + "}}"})
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all = append(all, panelQuery{p.Title, target.Expr, target.LegendFormat})
		}
	}
	if len(all) < 30 {
		t.Fatalf("%d queries", len(all))
	}
	return all
}

// emptyQueries are panels whose query has no result in any recorded phase, and why.
var emptyQueries = map[string]string{
	"Age of the oldest removal": "the metric is newer than the recorded series",
}

var legendLabel = regexp.MustCompile(`{{(\w+)}}`)

// Every query of the dashboard has a result in some recorded phase, with the labels of its legend.
func TestDashboardQueriesHaveResults(t *testing.T) {
	const minutes = 30
	r := recorded(t)
	var l timeline
	for _, phase := range r.phases() {
		l.stretches = append(l.stretches, stretch{phase, minutes})
	}
	series, engine := l.scraped(t, r), promqltest.NewTestEngine(t, false, 0, 1e6)
	for _, q := range dashboardQueries(t) {
		expr := variables.Replace(q.expr)
		if strings.Contains(expr, "$") {
			t.Errorf("%s: an unknown variable in %s", q.panel, expr)
		}
		var found []string // labels of the results
		results := 0
		for i := range r.phases() {
			query, err := engine.NewInstantQuery(t.Context(), series, nil, expr, r.minute((i+1)*minutes-1))
			if err != nil {
				t.Errorf("%s: %v in %s", q.panel, err, expr)
				break
			}
			result := query.Exec(t.Context())
			vector, err := result.Vector()
			if err != nil {
				t.Errorf("%s: %v in %s", q.panel, err, expr)
				break
			}
			results += len(vector)
			for _, sample := range vector {
				for name := range sample.Metric.Map() {
					found = append(found, name)
				}
			}
			query.Close()
		}
		if reason := emptyQueries[q.panel]; (results == 0) != (reason != "") {
			t.Errorf("%s has %d results; the reason for none is %q: %s", q.panel, results, reason, expr)
		}
		for _, m := range legendLabel.FindAllStringSubmatch(q.legend, -1) {
			if results > 0 && !slices.Contains(found, m[1]) {
				t.Errorf("%s: no result has the label %s: %s", q.panel, m[1], expr)
			}
		}
	}
}
