package release

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"sigs.k8s.io/yaml"
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
	readYAML(t, readObserve("prometheus-rule.yaml"), &file)
	return file.Spec.Groups[0].Rules
}

// The objects have only fields of the types of the Prometheus operator, and the rules are what Prometheus
// accepts, templates of annotations included.
func TestObjectsForThePrometheusOperatorAreValid(t *testing.T) {
	for name, into := range map[string]any{"prometheus-rule.yaml": &monitoringv1.PrometheusRule{}, "pod-monitor.yaml": &monitoringv1.PodMonitor{}, "exporter-pod-monitor.yaml": &monitoringv1.PodMonitor{}} {
		text, err := os.ReadFile(readObserve(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(text, into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		rule, is := into.(*monitoringv1.PrometheusRule)
		if !is {
			continue
		}
		groups, err := yaml.Marshal(rule.Spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, errs := rulefmt.Parse(groups, false, model.UTF8Validation, promql, slog.New(slog.DiscardHandler)); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
		}
	}
}

func TestNoAlertFiresForAHealthyCluster(t *testing.T) {
	for minute, alerts := range (timeline{stretches: []stretch{{"healthy", 180}, {"healthy after the operation", 180}, {"healthy after the loss", 180}}}).firing(t) {
		if len(alerts) > 0 {
			t.Fatalf("minute %d: %q", minute, slices.Sorted(maps.Keys(alerts)))
		}
	}
}

// steps are values that grow by a number in every step of some minutes, in the notation of promtool.
func steps(count, minutes, by int) string {
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf("%dx%d", i*by, minutes-1))
	}
	return strings.Join(all, " ")
}

// What repeats or takes long while it makes progress is no alert: the removal of one process group after
// another, and a pass that fails or is blocked now and then among others.
func TestAlertsDoNotFireOnProgress(t *testing.T) {
	for name, tc := range map[string]struct {
		with    map[string]string
		minutes int
	}{
		"a rolling replacement of ten hours": {map[string]string{
			"process_groups_marked_for_removal": "1x700", "oldest_removal_timestamp_seconds": steps(20, 30, 1800),
		}, 600},
		"one failed pass every 20 minutes":  {map[string]string{`passes_total{outcome="failed"}`: steps(12, 20, 1)}, 240},
		"one blocked pass every 10 minutes": {map[string]string{`passes_total{outcome="blocked"}`: steps(24, 10, 1)}, 240},
	} {
		t.Run(name, func(t *testing.T) {
			l := timeline{stretches: []stretch{{"healthy", tc.minutes}}, with: tc.with, pods: []string{"kubectl-fdb-0", "kubectl-fdb-1"}}
			for minute, alerts := range l.firing(t) {
				if len(alerts) > 0 {
					t.Fatalf("minute %d: %q", minute, slices.Sorted(maps.Keys(alerts)))
				}
			}
		})
	}
}

// alertText are the annotations of an alert that users read.
type alertText struct{ summary, description string }

// begins is how long a cluster is healthy before an alert is caused.
const begins = 10

// firstFiring are the alerts with the minute of the second stretch in which they first fire, and their texts.
func firstFiring(all []map[string]alertText) (minutes map[string]int, texts map[string]alertText) {
	minutes, texts = map[string]int{}, map[string]alertText{}
	for minute, alerts := range all {
		for name, text := range alerts {
			if _, before := minutes[name]; !before {
				minutes[name], texts[name] = minute-begins, text
			}
		}
	}
	return minutes, texts
}

// changes returns a line for each minute of the second stretch and later in which alerts begin to fire, or resolve.
func changes(all []map[string]alertText) []string {
	var lines []string
	before := map[string]alertText{}
	for minute, now := range all {
		for _, name := range slices.Sorted(maps.Keys(now)) {
			if _, fired := before[name]; !fired {
				lines = append(lines, fmt.Sprintf("minute %d: %s fires: %s", minute-begins, name, now[name].summary))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(before)) {
			if _, fires := now[name]; !fires {
				lines = append(lines, fmt.Sprintf("minute %d: %s is resolved", minute-begins, name))
			}
		}
		before = now
	}
	return lines
}

// fires requires which alerts fire in a timeline, when, with which words, and that all resolve until its end. It
// prints both, and returns what it prints.
func fires(t *testing.T, l timeline, want map[string]int, wording map[string]string) []string {
	t.Helper()
	var lines []string
	for _, l.pods = range [][]string{{"kubectl-fdb-0"}, {"kubectl-fdb-0", "kubectl-fdb-1"}} {
		all := l.firing(t)
		minutes, texts := firstFiring(all)
		if len(l.pods) == 1 { // with two pods they are the same
			lines = changes(all)
			show(t, lines)
		}
		if !maps.Equal(minutes, want) {
			t.Errorf("%v fire by minute, want %v", minutes, want)
		}
		for name, annotations := range texts {
			text := annotations.summary + " " + annotations.description
			if !strings.Contains(text, wording[name]) || !strings.Contains(text, "(fdb/sample)") || !strings.Contains(text, "kubectl fdb why sample -n fdb") || strings.Contains(text, "{{") {
				t.Errorf("the text of %s is %q, want %q", name, text, wording[name])
			}
		}
		if last := all[len(all)-1]; len(last) > 0 {
			t.Errorf("at the end fire %q", slices.Sorted(maps.Keys(last)))
		}
	}
	return lines
}

// recordedCase is a recorded phase, for how long it lasts, and when each alert fires.
type recordedCase struct {
	minutes int
	fires   map[string]int
}

var recordedCases = map[string]recordedCase{
	"operation": {500, map[string]int{"FoundationDBOperationLong": 245}},
	"paused":    {1500, map[string]int{"FoundationDBPaused": 1440}},
	"node lost": {60, map[string]int{
		"FoundationDBCoordinatorsUnreachable": 10, "FoundationDBNoFaultTolerance": 5, "FoundationDBFaultToleranceReduced": 30,
	}},
	"quorum lost": {60, map[string]int{
		"FoundationDBUnavailable": 1, "FoundationDBCoordinatorQuorumLost": 1, "FoundationDBCoordinatorsUnreachable": 10,
	}},
	"lock held":      {60, map[string]int{"FoundationDBLockExpired": 50}},
	"backup stopped": {60, map[string]int{"FoundationDBBackupNotRunning": 15}},
}

// handwrittenCase is a state that no test brings about in a sandbox: values over those of a healthy cluster.
type handwrittenCase struct {
	with    map[string]string
	minutes int
	fires   map[string]int
}

var handwrittenCases = map[string]handwrittenCase{
	"replicas are missing": {map[string]string{"database_full_replication": "1x9 0x29 1x400"}, 60, map[string]int{"FoundationDBReplicasMissing": 15}},
	"a storage server lags": {
		map[string]string{`database_worst_lag_seconds{kind="data"}`: "1x9 90x29 1x400"}, 60, map[string]int{"FoundationDBStorageLag": 10},
	},
	"the queue of a log is long": {
		map[string]string{`database_worst_queue_bytes{role="log"}`: "1x9 2e9x29 1x400"}, 60, map[string]int{"FoundationDBLogQueueLong": 10},
	},
	"locked": {map[string]string{"database_locked": "0x9 1x39 0x400"}, 60, map[string]int{"FoundationDBLocked": 30}},
	"a backup lags": {
		map[string]string{`backup_seconds_behind{tag="default"}`: "30x9 7200x29 30x400"}, 60, map[string]int{"FoundationDBBackupBehind": 15},
	},
	"a change of the spec is not reconciled": {
		map[string]string{"generation": "3x9 4x500", "reconciled_generation": "3x99 4x500"}, 120, map[string]int{"FoundationDBNotReconciled": 60},
	},
	"a process group is not removed": {
		map[string]string{"process_groups_marked_for_removal": "0x9 1x399 0x400", "oldest_removal_timestamp_seconds": "_x10 600x399 _x400"},
		450, map[string]int{"FoundationDBExclusionStuck": 366},
	},
	"passes are blocked": {
		map[string]string{`passes_total{outcome="blocked"}`: "0x9 1+1x39 41x400", `passes_total{outcome="done"}`: "0+1x9 9x39 10+1x400"},
		100, map[string]int{"FoundationDBPassBlocked": 28},
	},
	"passes fail": {
		map[string]string{`passes_total{outcome="failed"}`: "0x9 1+1x59 61x400", `passes_total{outcome="done"}`: "0+1x9 9x59 10+1x400"},
		150, map[string]int{"FoundationDBPassFailing": 28},
	},
	"passes fail and are blocked by turns": {
		map[string]string{
			`passes_total{outcome="failed"}`: "0x9 1+1x59 61x400", `passes_total{outcome="blocked"}`: "0x9 1+1x59 61x400",
			`passes_total{outcome="done"}`: "0+1x9 9x59 10+1x400",
		}, 150, map[string]int{"FoundationDBPassFailing": 28, "FoundationDBPassBlocked": 28},
	},
	"no agent reports a backup": {map[string]string{
		`backup_running{tag="default"}`: "1x9 _x30 1x400", `backup_restorable{tag="default"}`: "1x9 _x30 1x400", `backup_seconds_behind{tag="default"}`: "5x9 _x30 5x400",
	}, 60, map[string]int{"FoundationDBBackupUnreported": 15}},
	"no pass ends, and each restart forgets the last one": {
		map[string]string{
			`last_pass_timestamp_seconds{outcome="done"}`: "0+60x9 _x60 4260+60x400", `last_pass_timestamp_seconds{outcome="changed"}`: absent,
			`last_pass_timestamp_seconds{outcome="waiting"}`: absent, `last_pass_timestamp_seconds{outcome="blocked"}`: absent,
			`last_pass_timestamp_seconds{outcome="failed"}`: absent,
		}, 120, map[string]int{"FoundationDBNoPass": 35},
	},
	"no pass ends": {
		map[string]string{
			`last_pass_timestamp_seconds{outcome="done"}`: "0+60x9 540x60 4260+60x400", `last_pass_timestamp_seconds{outcome="changed"}`: absent,
			`last_pass_timestamp_seconds{outcome="waiting"}`: absent, `last_pass_timestamp_seconds{outcome="blocked"}`: absent,
			`last_pass_timestamp_seconds{outcome="failed"}`: absent,
		}, 120, map[string]int{"FoundationDBNoPass": 35},
	},
}

// wording are words that the text of an alert has: its values, and what they are of.
var wording = map[string]string{
	"FoundationDBUnavailable":             "is unavailable",
	"FoundationDBCoordinatorsUnreachable": "coordinators are reachable",
	"FoundationDBNoFaultTolerance":        "No zone may fail without the loss of ",
	"FoundationDBFaultToleranceReduced":   "Only 0 zones may fail without the loss of ",
	"FoundationDBStorageLag":              "1m 30s behind the logs",
	"FoundationDBLogQueueLong":            "1.863GiB in its queue",
	"FoundationDBBackupBehind":            "the backup default is 2h 0m 0s old",
	"FoundationDBBackupNotRunning":        "The backup default ran",
	"FoundationDBBackupUnreported":        "no backup agent reports it now",
	"FoundationDBExclusionStuck":          "for removal for 6h 6m 0s",
	"FoundationDBLockExpired":             "The lock of dc1 expired",
	"FoundationDBOperationLong":           "active for 4h ",
	"FoundationDBPassBlocked":             "A safety gate refuses",
}

// Each alert fires in a recorded phase when it should, with the words of its annotations, and resolves after it.
func TestAlertsFireOnRecordedSeriesAndResolve(t *testing.T) {
	for _, phase := range slices.Sorted(maps.Keys(recordedCases)) {
		tc := recordedCases[phase]
		t.Run(phase, func(t *testing.T) {
			lines := fires(t, timeline{stretches: []stretch{{"healthy", begins}, {phase, tc.minutes}, {"healthy", 60}}}, tc.fires, wording)
			if phase == "node lost" {
				shown(t, "alerts", lines)
			}
		})
	}
}

// Alerts about states that are not recorded fire and resolve as well.
func TestAlertsFireOnHandwrittenSeriesAndResolve(t *testing.T) {
	for name, tc := range handwrittenCases {
		t.Run(name, func(t *testing.T) {
			fires(t, timeline{stretches: []stretch{{"healthy", begins + tc.minutes}}, with: tc.with}, tc.fires, wording)
		})
	}
}

// A database that does not answer leaves no values but one.
func TestAnUnansweredDatabaseFiresOneAlert(t *testing.T) {
	with := map[string]string{"database_answered": "1x9 0x60"}
	for series := range recorded(t).Series {
		name := strings.TrimPrefix(series, prefix)
		if strings.HasPrefix(name, "database_") && !strings.HasPrefix(name, "database_answered") || strings.HasPrefix(name, "coordinators_") || strings.HasPrefix(name, "backup_") {
			with[withoutOwn(name)] = absent
		}
	}
	minutes, _ := firstFiring(timeline{stretches: []stretch{{"healthy", begins + 60}}, with: with}.firing(t))
	if want := map[string]int{"FoundationDBUnanswered": 5}; !maps.Equal(minutes, want) {
		t.Errorf("%v fire, want %v", minutes, want)
	}
}

// When the watch ends, no series is left: one alert fires for each cluster that had some.
func TestAWatchThatEndsFiresAnAlert(t *testing.T) {
	fires(t, timeline{stretches: []stretch{{"healthy", begins}, {"", 60}, {"healthy", 30}}}, map[string]int{"FoundationDBWatchMissing": 10}, wording)
}

func TestEveryAlertIsTested(t *testing.T) {
	tested := map[string]int{"FoundationDBUnanswered": 0, "FoundationDBWatchMissing": 0}
	for _, tc := range recordedCases {
		maps.Copy(tested, tc.fires)
	}
	for _, tc := range handwrittenCases {
		maps.Copy(tested, tc.fires)
	}
	var exist []string
	for _, r := range alertRules(t) {
		exist = append(exist, r.Alert)
	}
	slices.Sort(exist)
	if got := slices.Sorted(maps.Keys(tested)); !slices.Equal(got, exist) {
		t.Errorf("tested are %q, want %q", got, exist)
	}
}
