package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "record the series and resources of test/release/testdata again")

const (
	recordedSeries    = "../release/testdata/series.yaml"
	recordedResources = "../release/testdata/resources.yaml"
)

// recording is what a watch serves, and what passes write, in each phase of a cluster. The alerts, the
// dashboard and the health checks are tested with it.
type recording struct {
	t   *testing.T
	ns  string
	url string

	Scrapes   []scrape          `json:"scrapes"`
	Series    map[string]string `json:"series"`
	Resources []recorded        `json:"-"`
}

// scrape is one read of the page of metrics.
type scrape struct {
	Phase string  `json:"phase"`
	At    float64 `json:"at"`

	values map[string]string
}

// recorded is a resource in a phase.
type recorded struct {
	Phase    string         `json:"phase"`
	Resource map[string]any `json:"resource"`
}

// One cluster, with a backup and a restore, is brought into every phase in a sandbox. With -update what is
// observed is written to the testdata of test/release; otherwise it must have the same metrics, labels
// and states as the testdata.
func TestRecordedSeriesAndResourcesMatchTheSandbox(t *testing.T) {
	t.Parallel()
	alone(t, "--nodes", "3", "--zones", "3")
	r := &recording{t: t, ns: "fdb"}
	kubectl(t, "create", "namespace", r.ns)
	t.Cleanup(func() { logFailed(t, r.ns) })
	grantWatch(t, r.ns)
	for _, role := range []string{"backups", "dump"} {
		kubectl(t, "apply", "-n", r.ns, "-f", "../../manifests/rbac/"+role+".yaml")
		kubectl(t, "create", "rolebinding", "kubectl-fdb-"+role, "-n", r.ns, "--role=kubectl-fdb-"+role, "--serviceaccount="+r.ns+":kubectl-fdb")
	}
	r.resource("cluster created", r.apply(cluster("sample", counts+"processGroupIDPrefix: dc1\nlockOptions: {disableLocks: false}\n")))
	w := startWatchOf(t, r.ns, "sample", "--with-backups", "--resync", "4s", "--dump-dir", t.TempDir())
	r.url = <-w.address + "/metrics"

	r.resource("database not created yet", r.until("a status without a database", "fdb/sample", func(o map[string]any) bool {
		return at(o, "status", "generations") != nil && at(o, "status", "configured") != true
	}))
	r.resource("cluster reconciled", r.until("a reconciled cluster", "fdb/sample", isReconciled))
	r.backsUp()
	r.scrape("healthy", has("backup_restorable", "1"), has("database_full_replication", "1"), has("backup_seconds_behind", ""), noLock)
	r.operates()
	r.pauses()
	r.losesNodes()
	r.holdsTheLock()
	r.stopsTheBackup()
	r.restores()
	r.compare()
}

func (r *recording) backsUp() {
	manifest, err := os.ReadFile("../../manifests/examples/sandbox-backup.yaml")
	if err != nil {
		r.t.Fatal(err)
	}
	secret, backup, _ := strings.Cut(strings.ReplaceAll(string(manifest), "sample-cluster", "sample"), "\n---\n")
	apply(r.t, r.ns, secret)
	r.resource("backup created", r.apply(backup))
	r.resource("backup restorable", r.until("a restorable backup", "fdbbackup/nightly", func(o map[string]any) bool {
		return isReconciled(o) && at(o, "status", "backupDetails", "restorable") == true
	}))
}

// operates changes the spec, and replaces a process group with a command that waits: for the lock, which is
// held manually until the operation was observed. It would end at any moment otherwise.
func (r *recording) operates() {
	r.resource("spec changed", r.patch("fdb/sample", `{"spec":{"processCounts":{"storage":4}}}`))
	r.resource("changed spec reconciled", r.until("a reconciled cluster again", "fdb/sample", isReconciled))
	group := strings.Fields(kubectl(r.t, "fdb", "get", "process-groups", "sample", "-n", r.ns, "--class", "storage", "-o", "jsonpath={.items[*].id}"))[0]
	want(r.t, fdb(r.t, "locks", "take", "sample", "-n", r.ns, "--for", "12h", "--wait", "--timeout", "5m", "--reason", "test"), 0)
	ended := make(chan result, 1)
	go func() {
		ended <- fdb(r.t, "replace", "sample", group, "-n", r.ns, "--wait", "--yes", "--timeout", "9m")
	}()
	r.scrape("operation", has("operation_active", "1"), has("operation_targets", "1"), has("process_groups_marked_for_removal", "1"), has("lock_expiry_timestamp_seconds", ""))
	want(r.t, fdb(r.t, "locks", "release", "sample", "--join", "-n", r.ns, "--wait", "--timeout", "5m"), 0)
	want(r.t, <-ended, 0)
	r.until("a reconciled cluster after the replacement", "fdb/sample", isReconciled)
	r.scrape("healthy after the operation", lacks("operation_active"), has("process_groups_marked_for_removal", "0"), has("database_full_replication", "1"), noLock)
}

func (r *recording) pauses() {
	r.resource("cluster paused", r.patch("fdb/sample", `{"spec":{"skip":true}}`))
	r.scrape("paused", has("paused", "1"), noLock)
	r.patch("fdb/sample", `{"spec":{"skip":false}}`)
	r.resource("cluster resumed", r.until("a reconciled cluster after the pause", "fdb/sample", isReconciled))
}

// losesNodes stops one node, then another one: with one of three coordinators there is no quorum.
func (r *recording) losesNodes() {
	node := func(do, name string) {
		want(r.t, run(r.t, "fdb-sandbox", "node", do, name, "--dir", filepath.Dir(kubeconfigOf(r.t))), 0)
	}
	node("stop", "node-1")
	r.scrape("node lost", has("coordinators_reachable", "2"), has("database_available", "1"), noLock)
	node("stop", "node-2")
	r.scrape("quorum lost", has("database_available", "0"))
	r.resource("quorum lost", r.until("a status without an available database", "fdb/sample", func(o map[string]any) bool {
		return at(o, "status", "health", "available") != true
	}))
	node("start", "node-1")
	node("start", "node-2")
	r.until("a reconciled cluster after the loss", "fdb/sample", func(o map[string]any) bool {
		return isReconciled(o) && at(o, "status", "health", "available") == true && at(o, "status", "health", "fullReplication") == true
	})
	r.scrape("healthy after the loss", has("database_available", "1"), has("database_full_replication", "1"), has("coordinators_reachable", "3"), noLock)
}

func (r *recording) holdsTheLock() {
	want(r.t, fdb(r.t, "locks", "take", "sample", "-n", r.ns, "--for", "30m", "--wait", "--timeout", "5m", "--reason", "test"), 0)
	r.scrape("lock held", has("lock_expiry_timestamp_seconds", ""))
	want(r.t, fdb(r.t, "locks", "release", "sample", "-n", r.ns, "--wait", "--timeout", "5m"), 0)
}

func (r *recording) stopsTheBackup() {
	r.resource("backup paused, not reconciled", r.patch("fdbbackup/nightly", `{"spec":{"backupState":"Paused"}}`))
	r.resource("backup paused", r.until("a paused backup", "fdbbackup/nightly", isReconciled))
	r.patch("fdbbackup/nightly", `{"spec":{"backupState":"Running"}}`)
	r.until("a backup that runs again", "fdbbackup/nightly", isReconciled)
	r.patch("fdbbackup/nightly", `{"spec":{"backupState":"Stopped"}}`)
	r.resource("backup stopped", r.until("a stopped backup", "fdbbackup/nightly", isReconciled))
	r.scrape("backup stopped", has("backup_running", "0"), noLock)
}

func (r *recording) restores() {
	manifest, err := os.ReadFile("../../manifests/examples/sandbox-restore.yaml")
	if err != nil {
		r.t.Fatal(err)
	}
	r.resource("restore created", r.apply(strings.ReplaceAll(string(manifest), "sample-cluster", "sample")))
	r.resource("restore completed", r.until("a completed restore", "fdbrestore/nightly-again", func(o map[string]any) bool {
		return at(o, "status", "state") == "completed"
	}))
}

// apply applies a manifest, and returns the object as the API server stored it, before any pass.
func (r *recording) apply(manifest string) map[string]any {
	r.t.Helper()
	return r.parse(kubectl(r.t, "create", "-n", r.ns, "-f", file(r.t, "manifest.yaml", manifest), "-o", "json"))
}

// patch changes a spec, and returns the object as the API server stored it, before the next pass.
func (r *recording) patch(name, patch string) map[string]any {
	r.t.Helper()
	return r.parse(kubectl(r.t, "patch", name, "-n", r.ns, "--type", "merge", "-p", patch, "-o", "json"))
}

func (r *recording) parse(text string) map[string]any {
	r.t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		r.t.Fatal(err)
	}
	return o
}

// within calls poll every so often until it returns true.
func (r *recording) within(what string, every time.Duration, poll func() bool) {
	r.t.Helper()
	for end := time.Now().Add(stall); !poll(); time.Sleep(every) {
		if time.Now().After(end) {
			r.t.Fatalf("no %s after %s", what, stall)
		}
	}
}

// until reads an object until it is in a state.
func (r *recording) until(what, name string, is func(map[string]any) bool) map[string]any {
	r.t.Helper()
	var o map[string]any
	r.within(what, 200*time.Millisecond, func() bool {
		o = r.parse(kubectl(r.t, "get", name, "-n", r.ns, "-o", "json"))
		return is(o)
	})
	return o
}

func at(o map[string]any, path ...string) any {
	for _, name := range path[:len(path)-1] {
		o, _ = o[name].(map[string]any)
	}
	return o[path[len(path)-1]]
}

func isReconciled(o map[string]any) bool {
	return at(o, "metadata", "generation") == at(o, "status", "generations", "reconciled")
}

// resource records an object without what the API server keeps for itself.
func (r *recording) resource(phase string, o map[string]any) {
	metadata := o["metadata"].(map[string]any)
	for _, name := range []string{"managedFields", "uid", "resourceVersion", "creationTimestamp"} {
		delete(metadata, name)
	}
	r.Resources = append(r.Resources, recorded{phase, o})
	r.t.Logf("recorded: %s", phase)
}

// condition is what the page of metrics has in a phase.
type condition func(values map[string]string) bool

// has requires some series of a metric with a value; empty for any.
func has(name, value string) condition {
	return func(values map[string]string) bool {
		for series, got := range values {
			if nameOf(series) == "kubectl_fdb_"+name && (value == "" || got == value) {
				return true
			}
		}
		return false
	}
}

func lacks(name string) condition {
	return func(values map[string]string) bool { return !has(name, "")(values) }
}

// noLock leaves out moments in which a pass holds the lock: a test that lets one last would have it expire.
var noLock = lacks("lock_expiry_timestamp_seconds")

func nameOf(series string) string {
	name, _, _ := strings.Cut(series, "{")
	return name
}

// users are labels with a user and a host.
var users = regexp.MustCompile(`="[^"@]+@[^"]+"`)

// read reads the page of metrics. Durations of stages are without their buckets, which nothing reads.
func (r *recording) read() map[string]string {
	r.t.Helper()
	values := map[string]string{}
	for line := range strings.Lines(page(r.t, r.url)) {
		series, value, found := cutLast(strings.TrimSpace(line), " ")
		if found && !strings.HasPrefix(line, "#") && nameOf(series) != "kubectl_fdb_stage_duration_seconds_bucket" {
			values[users.ReplaceAllString(series, `="user@host"`)] = value
		}
	}
	return values
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// scrape records the page of metrics once it has what a phase has, and again after another pass if it
// still has.
func (r *recording) scrape(phase string, conditions ...condition) {
	r.t.Helper()
	var values map[string]string
	is := func() bool {
		return !slices.ContainsFunc(conditions, func(c condition) bool { return !c(values) })
	}
	add := func() {
		const milli = 1000
		r.Scrapes = append(r.Scrapes, scrape{phase, float64(time.Now().UnixMilli()) / milli, values})
		r.t.Logf("scraped: %s", phase)
	}
	r.within(phase, time.Second, func() bool { values = r.read(); return is() })
	add()
	before := passes(values)
	r.within("pass: "+phase, time.Second, func() bool { values = r.read(); return passes(values) > before })
	if is() {
		add()
	}
}

// passes is how many passes have ended.
func passes(values map[string]string) float64 {
	var sum float64
	for series, value := range values {
		if nameOf(series) == "kubectl_fdb_passes_total" {
			n, _ := strconv.ParseFloat(value, 64)
			sum += n
		}
	}
	return sum
}

// compare writes the testdata, or compares what matters with it.
func (r *recording) compare() {
	r.t.Helper()
	r.Series = map[string]string{}
	for i, s := range r.Scrapes {
		for series := range s.values {
			if r.Series[series] == "" {
				r.Series[series] = strings.Repeat("_ ", i)
			}
		}
		for series := range r.Series {
			value, exists := s.values[series]
			if !exists {
				value = "_"
			}
			r.Series[series] += value + " "
		}
	}
	if *update {
		write(r.t, recordedSeries, "The metrics that a watch served", r.text())
		text, err := yaml.Marshal(r.Resources)
		if err != nil {
			r.t.Fatal(err)
		}
		write(r.t, recordedResources, "Resources as the API server had them", string(text))
		return
	}
	was := recording{}
	load(r.t, recordedSeries, &was)
	load(r.t, recordedResources, &was.Resources)
	maps.DeleteFunc(r.Series, func(series, _ string) bool { return slices.Contains(newerMetrics, nameOf(series)) })
	if diff := cmp.Diff(shapes(was.Series), shapes(r.Series)); diff != "" {
		r.t.Errorf("the metrics and labels in %s (-) are not those of a watch (+):\n%s", recordedSeries, diff)
	}
	if diff := cmp.Diff(was.states(), r.states()); diff != "" {
		r.t.Errorf("the states in %s (-) are not those of a watch (+):\n%s", recordedSeries, diff)
	}
	if diff := cmp.Diff(judgedFields(was.Resources), judgedFields(r.Resources)); diff != "" {
		r.t.Errorf("the resources in %s (-) are not those in a sandbox (+):\n%s", recordedResources, diff)
	}
	if r.t.Failed() {
		r.t.Log("record them again: go test -count=1 ./test/e2e -run 'TestRecordedSeriesAndResourcesMatchTheSandbox$' -update")
	}
}

// text returns the scrapes, and a line for each series with a value for each scrape.
func (r *recording) text() string {
	var text strings.Builder
	text.WriteString("scrapes:\n")
	for _, s := range r.Scrapes {
		fmt.Fprintf(&text, "  - {phase: %s, at: %.3f}\n", s.Phase, s.At)
	}
	text.WriteString("series:\n")
	for _, series := range slices.Sorted(maps.Keys(r.Series)) {
		fmt.Fprintf(&text, "  '%s': '%s'\n", series, strings.TrimSpace(r.Series[series]))
	}
	return text.String()
}

func write(t *testing.T, path, what, content string) {
	t.Helper()
	head := fmt.Sprintf("# %s in each phase of a cluster in a sandbox. docs/observe.md describes\n# how to record it again.\n", what)
	if err := os.WriteFile(path, []byte(head+content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// newerMetrics were added after the series were recorded, so they are not compared. A recording that has
// them differs from what is compared, until they are removed here.
var newerMetrics = []string{"kubectl_fdb_oldest_removal_timestamp_seconds"}

var label = regexp.MustCompile(`(\w+)="([^"]*)"`)

// closedLabels have values that a cluster always has; those of other labels depend on what a pass happens to do.
var closedLabels = []string{"without_loss_of", "kind", "role", "tag", "fdb_cluster", "fdb_namespace"}

// shapes are the metrics with their labels, and the values of closed labels.
func shapes(series map[string]string) []string {
	found := map[string]bool{}
	for s := range series {
		if name := nameOf(s); name != "kubectl_fdb_actions_total" && name != "kubectl_fdb_gate_refusals_total" {
			found[label.ReplaceAllStringFunc(s, func(pair string) string {
				if name, _, _ := strings.Cut(pair, "="); !slices.Contains(closedLabels, name) {
					return name
				}
				return pair
			})] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// stateMetrics have the same value whenever a cluster is in a phase.
var stateMetrics = []string{
	"database_answered", "database_available", "database_zones_to_lose_desired", "coordinators_desired", "coordinators_quorum_reachable",
	"paused", "backup_running", "operation_known",
}

// states are the values of these metrics in each phase.
func (r *recording) states() map[string]string {
	found := map[string]string{}
	for i, s := range r.Scrapes {
		for series, values := range r.Series {
			if name := strings.TrimPrefix(nameOf(series), "kubectl_fdb_"); slices.Contains(stateMetrics, name) {
				found[s.Phase+": "+name] = strings.Fields(values)[i]
			}
		}
	}
	return found
}

// replicated is unknown while the database is unavailable: what the status keeps depends on which pass was the last one.
func replicated(o map[string]any) any {
	if at(o, "status", "health", "available") != true {
		return "-"
	}
	return at(o, "status", "health", "fullReplication")
}

// judgedFields are what the health checks read of the resources.
func judgedFields(resources []recorded) []string {
	var found []string
	for _, r := range resources {
		o := r.Resource
		found = append(found, fmt.Sprintf("%s: %v reconciled %t, skip %v, configured %v, available %v, replicated %v, backup %v, running %v, restorable %v, state %v",
			r.Phase, o["kind"], isReconciled(o), at(o, "spec", "skip"), at(o, "status", "configured"), at(o, "status", "health", "available"),
			replicated(o), at(o, "spec", "backupState"), at(o, "status", "backupDetails", "running"),
			at(o, "status", "backupDetails", "restorable"), at(o, "status", "state")))
	}
	return found
}
