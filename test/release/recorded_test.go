package release

import (
	"cmp"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/teststorage"
)

const prefix = "kubectl_fdb_"

var promql = parser.NewParser(parser.Options{})

// recording has the metrics that a watch served in a sandbox: each series has a value for each scrape,
// or _ where the page did not have it.
type recording struct {
	Scrapes []struct {
		Phase string  `json:"phase"`
		At    float64 `json:"at"`
	} `json:"scrapes"`
	Series map[string]string `json:"series"`
}

func recorded(t *testing.T) recording {
	t.Helper()
	var r recording
	readYAML(t, "testdata/series.yaml", &r)
	if len(r.Scrapes) < 10 || len(r.Series) < 50 {
		t.Fatalf("%d scrapes of %d series", len(r.Scrapes), len(r.Series))
	}
	return r
}

// phases are the phases of the recording in their order.
func (r recording) phases() []string {
	var all []string
	for _, s := range r.Scrapes {
		if !slices.Contains(all, s.Phase) {
			all = append(all, s.Phase)
		}
	}
	return all
}

// stretch is some time that a cluster is in a recorded phase; without a phase nothing is scraped.
type stretch struct {
	phase   string
	minutes int
}

// timeline is what Prometheus scrapes in a test: recorded phases, each for as long as a test needs.
// A phase continues as it was recorded: gauges keep their value, and counters and timestamps advance as they
// did between its scrapes.
type timeline struct {
	stretches []stretch
	// with are values for each minute, in the notation of promtool, instead of the recorded ones. Timestamps are
	// since the start. Absent removes a series.
	with map[string]string
	// pods are the pods that are scraped: after a restart there are two for some minutes.
	pods []string
}

// absent removes a series.
const absent = ""

func (l timeline) minutes() int {
	n := 0
	for _, s := range l.stretches {
		n += s.minutes
	}
	return n
}

// history are the values of a series over the minutes of a timeline.
type history struct {
	name   string
	labels labels.Labels
	values []float64 // NaN where there is none
}

// histories returns the series of the timeline; only those of the named metrics unless there are no names.
func (l timeline) histories(t *testing.T, r recording, names []string) []history {
	t.Helper()
	var all []history
	for series, text := range r.Series {
		name, _, _ := strings.Cut(series, "{")
		if len(names) > 0 && !slices.Contains(names, name) || l.replaced(series) {
			continue
		}
		metric, err := promql.ParseMetric(series)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, history{name, metric, l.continued(t, r, name, strings.Fields(text))})
	}
	for series, values := range l.with {
		if values == absent {
			continue
		}
		metric, sequence, err := promql.ParseSeriesDesc(prefix + series + " " + values)
		if err != nil {
			t.Fatalf("%s: %v", series, err)
		}
		builder := labels.NewBuilder(metric)
		builder.Set("fdb_cluster", "sample")
		builder.Set("fdb_namespace", "fdb")
		h := history{name: metric.Get(model.MetricNameLabel), labels: builder.Labels()}
		for _, v := range sequence {
			switch {
			case v.Omitted:
				v.Value = math.NaN()
			case strings.HasSuffix(h.name, "_timestamp_seconds"):
				v.Value += r.start()
			}
			h.values = append(h.values, v.Value)
		}
		all = append(all, h)
	}
	return all
}

// replaced reports whether the recorded values of a series are not used.
func (l timeline) replaced(series string) bool {
	_, is := l.with[withoutOwn(strings.TrimPrefix(series, prefix))]
	return is
}

// withoutOwn returns a series without the labels of its cluster.
func withoutOwn(series string) string {
	name, own, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
	others := slices.DeleteFunc(strings.Split(own, ","), func(label string) bool {
		return label == "" || strings.HasPrefix(label, "fdb_cluster=") || strings.HasPrefix(label, "fdb_namespace=")
	})
	if len(others) == 0 {
		return name
	}
	return name + "{" + strings.Join(others, ",") + "}"
}

func (r recording) start() float64 { return math.Trunc(r.Scrapes[0].At) }

// continued returns the values of a recorded series over the minutes of the timeline.
func (l timeline) continued(t *testing.T, r recording, name string, values []string) []float64 {
	t.Helper()
	if len(values) != len(r.Scrapes) {
		t.Fatalf("%s has %d values of %d scrapes", name, len(values), len(r.Scrapes))
	}
	var all []float64
	for _, s := range l.stretches {
		first, last := r.ends(s.phase)
		if s.phase != "" && last < 0 {
			t.Fatalf("%q was not recorded", s.phase)
		}
		if s.phase == "" || values[last] == "_" {
			all = append(all, slices.Repeat([]float64{math.NaN()}, s.minutes)...)
			continue
		}
		from, to := number(t, values[last]), number(t, values[last])
		if values[first] != "_" {
			from = number(t, values[first])
		}
		all = append(all, phase{
			name: name, from: from, to: to, seconds: r.Scrapes[last].At - r.Scrapes[first].At, at: r.Scrapes[last].At,
			start: r.start() + 60*float64(len(all)), before: slices.MaxFunc(append(slices.Clone(all), math.NaN()), cmp.Compare[float64]),
		}.over(s.minutes)...)
	}
	return all
}

// ends are the first and the last scrape of a phase, or the one before if it has only one; -1 for none.
func (r recording) ends(phase string) (first, last int) {
	first, last = -1, -1
	for i, s := range r.Scrapes {
		if s.Phase == phase {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first == last && first > 0 {
		first--
	}
	return first, last
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// phase is a series in one recorded phase: its values at the first and the last scrape.
type phase struct {
	name        string
	from, to    float64
	seconds, at float64 // between the scrapes, and of the last one
	start       float64 // of the phase in the timeline
	before      float64 // the largest value so far; NaN for none
}

func (p phase) over(minutes int) []float64 {
	counter := slices.ContainsFunc([]string{"_total", "_count", "_sum", "_bucket"}, func(suffix string) bool { return strings.HasSuffix(p.name, suffix) })
	all := make([]float64, minutes)
	for i := range all {
		elapsed := 60 * float64(i)
		switch {
		case counter:
			all[i] = p.to
			if p.before > p.to {
				all[i] = p.before
			}
			if p.seconds > 0 {
				all[i] += (p.to - p.from) / p.seconds * elapsed
			}
		case strings.HasSuffix(p.name, "_timestamp_seconds") && p.to != 0:
			all[i] = p.start + p.to - p.at
			if p.to != p.from {
				all[i] += elapsed
			}
		default:
			all[i] = p.to
		}
	}
	return all
}

// scraped stores the series of the timeline as Prometheus does: with the labels of the pods, and with a
// marker where a series ends.
func (l timeline) scraped(t *testing.T, r recording, names ...string) storage.Queryable {
	t.Helper()
	db := teststorage.New(t)
	histories := l.histories(t, r, names)
	pods := l.pods
	if len(pods) == 0 {
		pods = []string{"kubectl-fdb-0"}
	}
	for minute := range l.minutes() {
		appender := db.Appender(t.Context())
		for _, h := range histories {
			v := math.NaN()
			if minute < len(h.values) {
				v = h.values[minute]
			}
			if math.IsNaN(v) {
				if minute == 0 || minute > len(h.values) || math.IsNaN(h.values[minute-1]) {
					continue
				}
				v = math.Float64frombits(value.StaleNaN)
			}
			for _, pod := range pods {
				builder := labels.NewBuilder(h.labels)
				builder.Set("pod", pod)
				if _, err := appender.Append(0, builder.Labels(), r.minute(minute).UnixMilli(), v); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := appender.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// minute returns a time of a timeline.
func (r recording) minute(n int) time.Time {
	return time.Unix(int64(r.start()), 0).Add(time.Duration(n) * time.Minute)
}

// metricsOf are the metrics of queries.
func metricsOf(t *testing.T, queries ...string) []string {
	t.Helper()
	var names []string
	for _, query := range queries {
		expr, err := promql.ParseExpr(query)
		if err != nil {
			t.Fatalf("%v in %s", err, query)
		}
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			if selector, is := node.(*parser.VectorSelector); is {
				names = append(names, selector.Name)
			}
			return nil
		})
	}
	return names
}

// firing evaluates the alerts every minute, and returns those that fire, with their text.
func (l timeline) firing(t *testing.T) []map[string]alertText {
	t.Helper()
	r := recorded(t)
	var all []*rules.AlertingRule
	var queries []string
	for _, a := range alertRules(t) {
		expr, err := promql.ParseExpr(a.Expr)
		if err != nil {
			t.Fatalf("%s: %v", a.Alert, err)
		}
		hold, err := model.ParseDuration(a.For)
		if err != nil {
			t.Fatalf("%s: %v", a.Alert, err)
		}
		queries = append(queries, a.Expr)
		all = append(all, rules.NewAlertingRule(a.Alert, expr, time.Duration(hold), 0, labels.FromMap(a.Labels), labels.FromMap(a.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler)))
	}
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 0, 1e6), l.scraped(t, r, metricsOf(t, queries...)...))
	var found []map[string]alertText
	for minute := range l.minutes() {
		now := map[string]alertText{}
		for _, rule := range all {
			if _, err := rule.Eval(t.Context(), 0, r.minute(minute), query, nil, 0); err != nil {
				t.Fatalf("%s: %v", rule.Name(), err)
			}
			for _, a := range rule.ActiveAlerts() {
				if a.State == rules.StateFiring {
					now[rule.Name()] = alertText{summary: a.Annotations.Get("summary"), description: a.Annotations.Get("description")}
				}
			}
		}
		found = append(found, now)
	}
	return found
}

func readObserve(name string) string { return filepath.Join(root, "manifests/observe", name) }
