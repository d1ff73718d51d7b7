package metrics

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const observed = "../../../manifests/observe"

// ruleFile is what a PrometheusRule has.
type ruleFile struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       struct {
		Groups []struct {
			Name  string `json:"name"`
			Rules []struct {
				Alert       string            `json:"alert"`
				Expr        string            `json:"expr"`
				For         string            `json:"for"`
				Labels      map[string]string `json:"labels"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	} `json:"spec"`
}

func rules(t *testing.T) ruleFile {
	t.Helper()
	var r ruleFile
	readStrict(t, "prometheus-rule.yaml", &r)
	if len(r.Spec.Groups) != 1 || len(r.Spec.Groups[0].Rules) < 15 {
		t.Fatalf("the file has %d groups", len(r.Spec.Groups))
	}
	return r
}

func readStrict(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(observed, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// dashboardQueries are the queries of the dashboard by panel, those of its variables included.
func dashboardQueries(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(observed, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	queries := map[string][]string{}
	for _, v := range dashboard.Templating.List {
		if v.Type == "query" {
			queries["variable "+v.Name] = []string{v.Query}
		}
	}
	for _, p := range dashboard.Panels {
		if _, twice := queries[p.Title]; twice || p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d (%q) has no title or query, or a title that is there twice", p.ID, p.Title)
		}
		for _, target := range p.Targets {
			queries[p.Title] = append(queries[p.Title], target.Expr)
		}
	}
	return queries
}

var metricName = regexp.MustCompile(`kubectl_fdb_[a-z_]+`)

func TestDashboardAndAlertQueriesUseExistingMetrics(t *testing.T) {
	queries := dashboardQueries(t)
	for _, r := range rules(t).Spec.Groups[0].Rules {
		queries[r.Alert] = []string{r.Expr}
	}
	exist := names()
	for title, all := range queries {
		for _, query := range all {
			found := metricsIn(query)
			if len(found) == 0 {
				t.Errorf("%s: no metric in %s", title, query)
			}
			for _, name := range found {
				if !slices.Contains(exist, name) {
					t.Errorf("%s: there is no metric %s", title, name)
				}
			}
		}
	}
}

// metricsIn returns the metrics of a query; the series of a histogram are one metric.
func metricsIn(query string) []string {
	found := metricName.FindAllString(query, -1)
	for i, name := range found {
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, part)
		}
		found[i] = name
	}
	return found
}

// notShown are the metrics that no panel is about, and why.
var notShown = map[string]string{}

// What is not in a panel is not found in an outage.
func TestEveryMetricHasADashboardPanel(t *testing.T) {
	shown := map[string]bool{}
	for title, all := range dashboardQueries(t) {
		for _, query := range all {
			for _, name := range metricsIn(query) {
				shown[name] = shown[name] || !strings.HasPrefix(title, "variable ")
			}
		}
	}
	for _, name := range names() {
		if reason := notShown[name]; shown[name] == (reason != "") {
			t.Errorf("%s is in a panel: %t; the reason for none is %q", name, shown[name], reason)
		}
	}
	for name := range notShown {
		if !slices.Contains(names(), name) {
			t.Errorf("there is no metric %s", name)
		}
	}
}

// An alert at night leads to its section of why.md, and to the command that explains the cluster.
func TestAlertsLinkExistingDocsPages(t *testing.T) {
	page, err := os.ReadFile("../../../docs/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	severities := []string{"critical", "warning", "info"}
	for _, r := range rules(t).Spec.Groups[0].Rules {
		links(t, r.Alert, r.Annotations["runbook_url"], "docs/why.md#"+strings.ToLower(r.Alert))
		if guide, is := r.Annotations["guide_url"]; is {
			links(t, r.Alert, guide, "docs/")
		}
		if !strings.Contains(r.Annotations["description"], "kubectl fdb why {{ $labels.fdb_cluster }} -n {{ $labels.fdb_namespace }}") || r.Annotations["summary"] == "" {
			t.Errorf("%s does not name the command that explains the cluster", r.Alert)
		}
		if r.For == "" || !slices.Contains(severities, r.Labels["severity"]) {
			t.Errorf("%s has the severity %q and is for %q", r.Alert, r.Labels["severity"], r.For)
		}
		if unknown := slices.DeleteFunc(slices.Collect(maps.Keys(r.Annotations)), func(name string) bool {
			return slices.Contains([]string{"summary", "description", "runbook_url", "guide_url"}, name)
		}); len(unknown) > 0 {
			t.Errorf("%s has the annotations %q", r.Alert, unknown)
		}
		if row := "| `" + r.Alert + "` | " + r.Labels["severity"] + " | " + r.For + " | "; !strings.Contains(string(page), row) {
			t.Errorf("docs/observe.md has no row %s", row)
		}
	}
}

// links requires that a link of an alert leads to an existing heading, and begins with prefix.
func links(t *testing.T, alert, url, prefix string) {
	t.Helper()
	link, is := strings.CutPrefix(url, "https://github.com/kubectl-fdb/kubectl-fdb/blob/main/")
	file, anchor, _ := strings.Cut(link, "#")
	text, err := os.ReadFile("../../../" + file)
	if !is || err != nil || anchor != "" && !hasHeading(string(text), anchor) || !strings.HasPrefix(link, prefix) {
		t.Errorf("%s links %q (%v), want an existing heading of %s", alert, url, err, prefix)
	}
}

var otherThanWords = regexp.MustCompile(`[^a-z0-9 -]`)

// hasHeading reports whether a page has a heading with this anchor.
func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		if title, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); is && strings.HasPrefix(line, "#") &&
			strings.ReplaceAll(otherThanWords.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

// The monitor selects the pods of the Deployment, and a port that they have.
func TestThePodMonitorsSelectThePodsOfTheirDeployments(t *testing.T) {
	monitorSelects(t, "pod-monitor.yaml", "../in-cluster/deployment.yaml")
	monitorSelects(t, "exporter-pod-monitor.yaml", "exporter.yaml")
}

// monitorSelects compares a PodMonitor with a file whose last object is a Deployment.
func monitorSelects(t *testing.T, monitorFile, deploymentFile string) {
	t.Helper()
	var monitor struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       struct {
			Selector struct {
				MatchLabels map[string]string `json:"matchLabels"`
			} `json:"selector"`
			Endpoints []struct {
				Port     string `json:"port"`
				Interval string `json:"interval"`
			} `json:"podMetricsEndpoints"`
		} `json:"spec"`
	}
	readStrict(t, monitorFile, &monitor)
	var deployment struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	text, err := os.ReadFile(filepath.Join(observed, deploymentFile))
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(text), "\n---\n")
	if err := yaml.Unmarshal([]byte(documents[len(documents)-1]), &deployment); err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template
	for key, value := range monitor.Spec.Selector.MatchLabels {
		if pod.Labels[key] != value {
			t.Errorf("the monitor selects %s=%s, the pods have %v", key, value, pod.Labels)
		}
	}
	if len(monitor.Spec.Endpoints) != 1 || len(monitor.Spec.Selector.MatchLabels) == 0 || !slices.ContainsFunc(pod.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool {
		return p.Name == monitor.Spec.Endpoints[0].Port
	}) {
		t.Errorf("the monitor scrapes %+v, the pods have %+v", monitor.Spec.Endpoints, pod.Spec.Containers[0].Ports)
	}
}
