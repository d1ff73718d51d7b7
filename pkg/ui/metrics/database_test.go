package metrics

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// page returns the lines of values on the page of metrics, without the labels of the cluster.
func page(t *testing.T, m *Metrics) []string {
	t.Helper()
	server := httptest.NewServer(Handler(m, &Liveness{}))
	defer server.Close()
	_, text := get(t, server.URL+"/metrics")
	text = strings.NewReplacer(`{fdb_cluster="sample",fdb_namespace="fdb"}`, "", `fdb_cluster="sample",fdb_namespace="fdb",`, "", `,fdb_cluster="sample",fdb_namespace="fdb"`, "").Replace(text)
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func observe(s plan.Snapshot) *Metrics {
	m := New("sample", "fdb", func() time.Time { return noon })
	m.Report(reconcile.PassStarted{Round: 1})
	m.Report(reconcile.Observed{Facets: plan.Everything, Snapshot: s})
	return m
}

// about are the lines whose metric begins with one of the names.
func about(lines []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(line, "kubectl_fdb_"+name) })
	})
}

func TestDatabaseMetricsAreExported(t *testing.T) {
	s := inspecttest.Healthy(t).Snapshot
	cluster := &s.Database.Status.Cluster
	cluster.QoS = &fdb.QoS{
		WorstDataLagStorageServer: &fdb.Lag{Seconds: new(1.5)}, WorstDurabilityLagStorageServer: &fdb.Lag{Seconds: new(5.25)},
		WorstQueueBytesLogServer: new(int64(1024)), WorstQueueBytesStorageServer: new(int64(2048)),
	}
	cluster.Data.MovingData = &fdb.MovingData{InFlightBytes: new(int64(300)), InQueueBytes: new(int64(700))}
	cluster.Layers.Backup = &fdb.BackupLayer{Tags: map[string]fdb.BackupTag{
		"default": {RunningBackup: new(true), RunningBackupIsRestorable: new(false)},
		"nightly": {RunningBackup: new(true), RunningBackupIsRestorable: new(true), LastRestorableSecondsBehind: new(12.5)},
	}}
	s.Coordination = plan.CoordinationFacts{Read: true, Lock: &fdb.Lock{Owner: "dc1", Start: noon, End: noon.Add(time.Minute)}}
	s.Cluster.Spec.Skip = true
	s.Cluster.Status.ProcessGroups[0].MarkForRemoval(noon)
	s.Cluster.Status.ProcessGroups[1].MarkForRemoval(noon.Add(-time.Hour))
	s.Cluster.Status.ProcessGroups[2].MarkForRemoval(noon.Add(-time.Minute))
	want := []string{
		`kubectl_fdb_backup_restorable{tag="default"} 0`,
		`kubectl_fdb_backup_restorable{tag="nightly"} 1`,
		`kubectl_fdb_backup_running{tag="default"} 1`,
		`kubectl_fdb_backup_running{tag="nightly"} 1`,
		`kubectl_fdb_backup_seconds_behind{tag="nightly"} 12.5`,
		`kubectl_fdb_coordinators_desired 3`,
		`kubectl_fdb_coordinators_quorum_reachable 1`,
		`kubectl_fdb_coordinators_reachable 3`,
		`kubectl_fdb_database_answered 1`,
		`kubectl_fdb_database_available 1`,
		`kubectl_fdb_database_excluded_processes 0`,
		`kubectl_fdb_database_full_replication 1`,
		`kubectl_fdb_database_locked 0`,
		`kubectl_fdb_database_moving_bytes 300`,
		`kubectl_fdb_database_processes 12`,
		`kubectl_fdb_database_queued_bytes 700`,
		`kubectl_fdb_database_status_timestamp_seconds 1.795175999e+09`,
		`kubectl_fdb_database_worst_lag_seconds{kind="data"} 1.5`,
		`kubectl_fdb_database_worst_lag_seconds{kind="durability"} 5.25`,
		`kubectl_fdb_database_worst_queue_bytes{role="log"} 1024`,
		`kubectl_fdb_database_worst_queue_bytes{role="storage"} 2048`,
		`kubectl_fdb_database_zones_to_lose_desired 1`,
		`kubectl_fdb_database_zones_to_lose{without_loss_of="availability"} 1`,
		`kubectl_fdb_database_zones_to_lose{without_loss_of="data"} 1`,
		`kubectl_fdb_lock_expiry_timestamp_seconds{owner="dc1"} 1.79517606e+09`,
		`kubectl_fdb_paused 1`,
		`kubectl_fdb_oldest_removal_timestamp_seconds 1.7951724e+09`,
		`kubectl_fdb_process_groups_marked_for_removal 3`,
	}
	got := page(t, observe(s))
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("no line %s", line)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(got, "\n"))
	}
}

// The age of the oldest mark ends with its process group, whether the database answers or not.
func TestTheOldestRemovalIsThatOfTheProcessGroupsThatAreLeft(t *testing.T) {
	const metric = "oldest_removal_timestamp_seconds"
	s := inspecttest.Healthy(t).Snapshot
	m := observe(s)
	if got := about(page(t, m), metric); len(got) > 0 {
		t.Errorf("without a mark: %v", got)
	}
	groups := s.Cluster.Status.ProcessGroups
	groups[0].MarkForRemoval(noon.Add(-time.Hour))
	groups[1].MarkForRemoval(noon)
	m.Report(reconcile.Observed{Facets: plan.ClusterResource, Snapshot: s})
	s.Database = plan.DatabaseFacts{Unreachable: "no pod answers"}
	m.Report(reconcile.Observed{Facets: plan.Database, Snapshot: s})
	if got, want := about(page(t, m), metric), []string{"kubectl_fdb_oldest_removal_timestamp_seconds 1.7951724e+09"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	s.Cluster = s.Cluster.DeepCopy()
	s.Cluster.Status.ProcessGroups = groups[1:]
	m.Report(reconcile.Observed{Facets: plan.ClusterResource, Snapshot: s})
	if got, want := about(page(t, m), metric), []string{"kubectl_fdb_oldest_removal_timestamp_seconds 1.795176e+09"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// An alert on a value must neither fire nor be missed because a missing value is shown as zero.
func TestUnknownDatabaseMetricsAreAbsent(t *testing.T) {
	healthy := inspecttest.Healthy(t).Snapshot
	unanswered, notQueried, partial := healthy, healthy, healthy
	unanswered.Database = plan.DatabaseFacts{Unreachable: "no pod answers"}
	notQueried.Database = plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
	status := *healthy.Database.Status
	status.Cluster.QoS, status.Cluster.Data, status.Cluster.FaultTolerance, status.Cluster.FullReplication = nil, nil, nil, nil
	partial.Database.Status = &status
	database := []string{"database_", "coordinators_", "backup_"}
	tests := map[string]struct {
		then plan.Snapshot
		want []string
	}{
		"a database that does not answer": {unanswered, []string{"kubectl_fdb_database_answered 0"}},
		"a database that is not queried":  {notQueried, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := observe(healthy)
			m.Report(reconcile.Observed{Facets: plan.Database, Snapshot: tc.then})
			got := slices.DeleteFunc(about(page(t, m), database...), func(line string) bool {
				return strings.HasPrefix(line, "kubectl_fdb_database_status_timestamp_seconds ") // when it was known
			})
			if diff := cmp.Diff(tc.want, got, cmp.Transformer("empty", func(l []string) []string { return append([]string{}, l...) })); diff != "" {
				t.Error(diff)
			}
		})
	}
	m := observe(healthy)
	m.Report(reconcile.Observed{Facets: plan.Database, Snapshot: partial})
	if got := about(page(t, m), "database_worst", "database_zones_to_lose{", "database_moving", "database_queued", "database_full"); len(got) > 0 {
		t.Errorf("a status without these fields shows %v", got)
	}
}

// What a pass did not read again keeps its value.
func TestMetricsKeepTheValuesOfFacetsNotReadAgain(t *testing.T) {
	m := observe(inspecttest.Healthy(t).Snapshot)
	before := about(page(t, m), "database_", "coordinators_")
	s := inspecttest.Unanswered(t).Snapshot
	m.Report(reconcile.Observed{Facets: plan.Pods, Snapshot: s})
	if diff := cmp.Diff(before, about(page(t, m), "database_", "coordinators_")); diff != "" {
		t.Error(diff)
	}
}

var named = regexp.MustCompile(`fqName: "([^"]+)"`)

// names are the names of all metrics of a watch.
func names() []string {
	all := make(chan *prometheus.Desc)
	go func() {
		defer close(all)
		m := New("sample", "fdb", func() time.Time { return noon })
		m.Dumps()
		m.registry.Describe(all)
	}()
	var found []string
	for d := range all {
		found = append(found, named.FindStringSubmatch(d.String())[1])
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestDumpsAreCountedWithTheLabelsOfTheCluster(t *testing.T) {
	m := New("sample", "fdb", func() time.Time { return noon })
	d := m.Dumps()
	d.Written(noon, 300)
	d.Failed()
	found, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range found {
		if one := family.GetMetric()[0]; strings.Contains(family.GetName(), "_dump_") {
			got[family.GetName()] = one.GetGauge().GetValue() + one.GetCounter().GetValue()
			if len(one.GetLabel()) != 2 {
				t.Errorf("%s has labels %v", family.GetName(), one.GetLabel())
			}
		}
	}
	want := map[string]float64{"kubectl_fdb_dump_bytes": 300, "kubectl_fdb_dump_failures_total": 1, "kubectl_fdb_dump_last_written_timestamp_seconds": float64(noon.Unix())}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

var documented = regexp.MustCompile("(?m)^\\| `(kubectl_fdb_[a-z_]+)")

// Every metric that exists is on the page, and every metric on the page exists.
func TestTheWatchPageListsAllMetrics(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "watch.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range documented.FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	if diff := cmp.Diff(names(), listed); diff != "" {
		t.Errorf("exist (-), listed (+):\n%s", diff)
	}
}
