package release

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// alertRule is a rule of the PrometheusRule.
type alertRule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func alertRules(t *testing.T) []alertRule {
	t.Helper()
	var file struct {
		Spec struct {
			Groups []struct {
				Rules []alertRule `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	readYAML(t, filepath.Join(root, "manifests/observe/prometheus-rule.yaml"), &file)
	return file.Spec.Groups[0].Rules
}

// healthy are the series of a healthy cluster, with a value for each minute. The labels of a scrape
// and those of the cluster are added.
var healthy = map[string]string{
	`database_answered`:                                      "1x2000",
	`database_available`:                                     "1x2000",
	`database_full_replication`:                              "1x2000",
	`database_locked`:                                        "0x2000",
	`database_zones_to_lose{without_loss_of="data"}`:         "2x2000",
	`database_zones_to_lose{without_loss_of="availability"}`: "2x2000",
	`database_zones_to_lose_desired`:                         "2x2000",
	`database_worst_lag_seconds{kind="data"}`:                "1x2000",
	`database_worst_queue_bytes{role="log"}`:                 "1000000x2000",
	`coordinators_desired`:                                   "5x2000",
	`coordinators_reachable`:                                 "5x2000",
	`coordinators_quorum_reachable`:                          "1x2000",
	`process_groups_marked_for_removal`:                      "0x2000",
	`paused`:                                                 "0x2000",
	`generation`:                                             "3x2000",
	`reconciled_generation`:                                  "3x2000",
	`passes_total{outcome="done"}`:                           "0+1x2000",
	`passes_total{outcome="blocked"}`:                        "0x2000",
	`passes_total{outcome="failed"}`:                         "0x2000",
	`last_pass_timestamp_seconds{outcome="done"}`:            "0+60x2000",
	`last_pass_timestamp_seconds{outcome="failed"}`:          "0x2000",
	`backup_running{tag="nightly"}`:                          "1x2000",
	`backup_seconds_behind{tag="nightly"}`:                   "30x2000",
}

// absent removes a series.
const absent = ""

// load returns the series in the notation of promtool.
func load(with map[string]string) string {
	all := maps.Clone(healthy)
	maps.Copy(all, with)
	var text strings.Builder
	text.WriteString("load 1m\n")
	for series, values := range all {
		if values == absent {
			continue
		}
		name, own, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		if own != "" {
			own = ", " + own
		}
		fmt.Fprintf(&text, "  kubectl_fdb_%s{fdb_cluster=%q, fdb_namespace=%q, pod=%q%s} %s\n", name, "sample", "fdb", "kubectl-fdb-0", own, values)
	}
	return text.String()
}

// firing returns the alerts that fire after a time, evaluated every minute until then.
func firing(t *testing.T, with map[string]string, after ...time.Duration) []map[string]*rules.Alert {
	t.Helper()
	storage := promqltest.LoadedStorage(t, load(with))
	defer storage.Close()
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 0, 1e6), storage)
	var all []*rules.AlertingRule
	for _, r := range alertRules(t) {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
		if err != nil {
			t.Fatalf("%s: %v", r.Alert, err)
		}
		hold, err := model.ParseDuration(r.For)
		if err != nil {
			t.Fatalf("%s: %v", r.Alert, err)
		}
		all = append(all, rules.NewAlertingRule(r.Alert, expr, time.Duration(hold), 0, labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler)))
	}
	var found []map[string]*rules.Alert
	for at := time.Duration(0); at <= slices.Max(after); at += time.Minute {
		for _, r := range all {
			if _, err := r.Eval(t.Context(), 0, time.Unix(0, 0).Add(at), query, nil, 0); err != nil {
				t.Fatalf("%s: %v", r.Name(), err)
			}
		}
		if !slices.Contains(after, at) {
			continue
		}
		now := map[string]*rules.Alert{}
		for _, r := range all {
			for _, a := range r.ActiveAlerts() {
				if a.State == rules.StateFiring {
					now[r.Name()] = a
				}
			}
		}
		found = append(found, now)
	}
	return found
}

func TestNoAlertFiresForAHealthyCluster(t *testing.T) {
	if got := firing(t, nil, 3*time.Hour)[0]; len(got) > 0 {
		t.Errorf("firing: %v", slices.Sorted(maps.Keys(got)))
	}
}

// Each alert fires while its cause lasts, with the words of its annotations, and resolves after it.
// The cause begins after 10 minutes.
func TestAlertsFireAndResolve(t *testing.T) {
	// unknown is what remains of a database that does not answer.
	unanswered := map[string]string{"database_answered": "1x10 0x60 1x2000"}
	for series := range healthy {
		if strings.HasPrefix(series, "database_") && series != "database_answered" || strings.HasPrefix(series, "coordinators_") || strings.HasPrefix(series, "backup_") {
			unanswered[series] = absent
		}
	}
	tests := map[string]struct {
		with        map[string]string
		fires, ends time.Duration // when the alert fires, and when it no longer does; 0 for never
		also        []string      // alerts that fire with it
		says        string
	}{
		"FoundationDBUnavailable":             {map[string]string{"database_available": "1x10 0x20 1x2000"}, 13 * time.Minute, 40 * time.Minute, nil, "is unavailable (fdb/sample)"},
		"FoundationDBUnanswered":              {unanswered, 20 * time.Minute, 90 * time.Minute, nil, "kubectl fdb why sample -n fdb"},
		"FoundationDBCoordinatorQuorumLost":   {map[string]string{"coordinators_quorum_reachable": "1x10 0x20 1x2000"}, 13 * time.Minute, 40 * time.Minute, nil, ""},
		"FoundationDBCoordinatorsUnreachable": {map[string]string{"coordinators_reachable": "5x10 4x20 5x2000"}, 25 * time.Minute, 40 * time.Minute, nil, "4 coordinators are reachable"},
		"FoundationDBNoFaultTolerance": {
			map[string]string{`database_zones_to_lose{without_loss_of="data"}`: "2x10 0x20 2x2000"}, 20 * time.Minute, 40 * time.Minute, nil, "without the loss of data",
		},
		"FoundationDBFaultToleranceReduced": {
			map[string]string{`database_zones_to_lose{without_loss_of="availability"}`: "2x10 1x60 2x2000"}, 50 * time.Minute, 90 * time.Minute, nil, "Only 1 zones may fail without the loss of availability",
		},
		"FoundationDBReplicasMissing": {map[string]string{"database_full_replication": "1x10 0x30 1x2000"}, 30 * time.Minute, 60 * time.Minute, nil, ""},
		"FoundationDBStorageLag":      {map[string]string{`database_worst_lag_seconds{kind="data"}`: "1x10 90x30 1x2000"}, 25 * time.Minute, 60 * time.Minute, nil, "1m 30s behind the logs"},
		"FoundationDBLogQueueLong":    {map[string]string{`database_worst_queue_bytes{role="log"}`: "1x10 2e9x30 1x2000"}, 25 * time.Minute, 60 * time.Minute, nil, "1.863GiB in its queue"},
		"FoundationDBLocked":          {map[string]string{"database_locked": "0x10 1x40 0x2000"}, 45 * time.Minute, 70 * time.Minute, nil, ""},
		"FoundationDBBackupBehind":    {map[string]string{`backup_seconds_behind{tag="nightly"}`: "30x10 7200x30 30x2000"}, 30 * time.Minute, 60 * time.Minute, nil, "the backup nightly is 2h 0m 0s old"},
		"FoundationDBBackupNotRunning": {
			map[string]string{`backup_running{tag="nightly"}`: "1x10 0x30 1x2000", `backup_seconds_behind{tag="nightly"}`: absent}, 30 * time.Minute, 60 * time.Minute, nil, "The backup nightly ran",
		},
		"FoundationDBExclusionStuck": {map[string]string{"process_groups_marked_for_removal": "0x10 2x400 0x2000"}, 380 * time.Minute, 430 * time.Minute, nil, "2 process groups"},
		"FoundationDBLockExpired":    {map[string]string{`lock_expiry_timestamp_seconds{owner="dc1"}`: "600x60"}, 40 * time.Minute, 70 * time.Minute, nil, "The lock of dc1 expired"},
		"FoundationDBPaused":         {map[string]string{"paused": "0x10 1x1500 0x2000"}, 1460 * time.Minute, 1530 * time.Minute, nil, ""},
		"FoundationDBNotReconciled":  {map[string]string{"generation": "3x10 4x2000", "reconciled_generation": "3x100 4x2000"}, 80 * time.Minute, 120 * time.Minute, nil, "Generation 4"},
		"FoundationDBPassBlocked":    {map[string]string{`passes_total{outcome="blocked"}`: "0x10 1+1x40 41x2000"}, 35 * time.Minute, 80 * time.Minute, nil, "A safety gate refuses"},
		"FoundationDBPassFailing":    {map[string]string{`passes_total{outcome="failed"}`: "0x10 1+1x60 61x2000"}, 50 * time.Minute, 120 * time.Minute, nil, ""},
		"FoundationDBNoPass": {
			map[string]string{`last_pass_timestamp_seconds{outcome="done"}`: "0+60x10 600x60 4260+60x2000"}, 60 * time.Minute, 90 * time.Minute, nil, "",
		},
	}
	for _, r := range alertRules(t) {
		tc, exists := tests[r.Alert]
		if !exists {
			t.Errorf("%s has no test", r.Alert)
			continue
		}
		t.Run(r.Alert, func(t *testing.T) {
			states := firing(t, tc.with, tc.fires, tc.ends)
			want := slices.Sorted(slices.Values(append([]string{r.Alert}, tc.also...)))
			if got := slices.Sorted(maps.Keys(states[0])); !slices.Equal(got, want) {
				t.Fatalf("after %s firing: %v, want %v", tc.fires, got, want)
			}
			a := states[0][r.Alert]
			if text := a.Annotations.Get("summary") + " " + a.Annotations.Get("description"); !strings.Contains(text, tc.says) || strings.Contains(text, "{{") {
				t.Errorf("its text is %q, want %q", text, tc.says)
			}
			if got := slices.Sorted(maps.Keys(states[1])); len(got) > 0 {
				t.Errorf("after %s still firing: %v", tc.ends, got)
			}
		})
	}
}
