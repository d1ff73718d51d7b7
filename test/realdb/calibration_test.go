package realdb

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/test/realdb/programs"
)

// calibrating is whether this run compares forecasts with what happens, and runs no journeys.
func calibrating() bool { return os.Getenv("CALIBRATE") != "" }

// modeled are the versions that the programs of the model have where FDB_BIN names none.
var modeled = []programs.Given{{Version: "7.3.79"}, {Version: "7.3.80"}}

// operation is a command whose forecast is compared with what it does.
type operation struct {
	// versions is how many versions of the programs it needs, 0 for one.
	versions int
	// fresh is whether it creates the cluster.
	fresh   bool
	prepare func(*test, *cluster)
	// command returns the words and the arguments of the command, without those of how it runs.
	command func(*test, *cluster) []string
}

func set(values ...string) func(*test, *cluster) []string {
	return func(*test, *cluster) []string {
		words := []string{"reconcile"}
		for _, v := range values {
			words = append(words, "--set", v)
		}
		return words
	}
}

func replacing(class string, n int) func(*test, *cluster) []string {
	return func(t *test, c *cluster) []string {
		words := []string{"replace"}
		for _, g := range c.of(t, class)[:n] {
			words = append(words, "--process-group", g.ID)
		}
		return words
	}
}

func plain(words ...string) func(*test, *cluster) []string {
	return func(*test, *cluster) []string { return words }
}

func calibrated() map[string]operation {
	return map[string]operation{
		"creation":                                  {fresh: true, command: plain("reconcile")},
		"nothing to do":                             {command: plain("reconcile")},
		"growth":                                    {command: set("processCounts.storage=5")},
		"growth of each class":                      {command: set("processCounts.storage=4", "processCounts.log=4", "processCounts.stateless=4")},
		"shrinking":                                 {prepare: func(t *test, c *cluster) { c.patch(t, `{"processCounts":{"storage":5}}`); c.reconcile(t) }, command: set("processCounts.storage=4")},
		"knob change":                               {command: set("processes.general.customParameters=[knob_max_trace_lines=900001]")},
		"knob change of the storage class":          {command: set("processes.storage.customParameters=[knob_max_trace_lines=900001]")},
		"number of proxies":                         {command: set("databaseConfiguration.proxies=3")},
		"redundancy mode, two copies to one":        {command: set("databaseConfiguration.redundancy_mode=single")},
		"redundancy mode, two copies to three":      {prepare: withFive, command: set("databaseConfiguration.redundancy_mode=triple")},
		"storage engine":                            {command: set("databaseConfiguration.storage_engine=ssd-redwood-1", "databaseConfiguration.storage_migration_type=aggressive")},
		"replacement of a storage process group":    {command: replacing("storage", 1)},
		"replacement of two storage process groups": {command: replacing("storage", 2)},
		"replacement of a log process group":        {command: replacing("log", 1)},
		"replacement of a stateless process group":  {command: replacing("stateless", 1)},
		"exclusion":                                 {prepare: func(t *test, c *cluster) { c.patch(t, `{"processCounts":{"storage":4}}`); c.reconcile(t) }, command: func(t *test, c *cluster) []string { return []string{"exclude", c.of(t, "storage")[0].ID} }},
		"maintenance": {command: func(t *test, c *cluster) []string {
			return []string{"maintenance on", c.of(t, "storage")[0].Node, "--for", "10m"}
		}},
		"coordinators off a process group": {command: func(t *test, c *cluster) []string {
			return []string{"coordinators change", "--away-from", c.coordinator(t)}
		}},
		"restart of the storage class":        {command: plain("restart", "--class", "storage")},
		"restart of the stateless class":      {command: plain("restart", "--class", "stateless")},
		"pod template":                        {command: set("processes.general.podTemplate.metadata.labels.team=orders")},
		"pod template of the stateless class": {command: set("processes.stateless.podTemplate.metadata.labels.team=orders")},
		"pod deleted":                         {prepare: withoutPod, command: plain("reconcile")},
		"volume size":                         {command: set("processes.general.volumeClaimTemplate.spec.resources.requests.storage=2Gi")},
		"split image":                         {command: set("imageType=split")},
		"upgrade of the patch version":        {versions: 2, command: func(*test, *cluster) []string { return []string{"reconcile", "--set", "version=" + newest()} }},
	}
}

func withFive(t *test, c *cluster) {
	c.patch(t, `{"processCounts":{"storage":5,"log":4,"stateless":3}}`)
	c.reconcile(t)
}

func withoutPod(t *test, c *cluster) {
	must(t, "kubectl", "delete", "pod", "-n", c.ns, "--grace-period=1", c.of(t, "storage")[0].Pod)
}

// coordinator is a process group that is one.
func (c *cluster) coordinator(t *test) string {
	t.Helper()
	for _, g := range c.groups(t) {
		if g.Coordinator != nil && *g.Coordinator {
			return g.ID
		}
	}
	t.Fatal("no process group is a coordinator")
	return ""
}

// foreseen is the forecast of a plan.
type foreseen struct {
	End     string
	Seconds float64
	Totals  struct{ PodsAtPeak, PodsCreated, PodsDeleted, ProcessesRestarted, Recoveries int }
}

// measured is one number of a forecast beside what happened.
type measured struct {
	name           string
	forecast, fact int
	// margin is by how much the fact may differ.
	margin int
}

func (m measured) inside() bool { return max(m.forecast-m.fact, m.fact-m.forecast) <= m.margin }

func (m measured) String() string {
	text := func(n int) string {
		if m.name == "time" {
			return (time.Duration(n) * time.Second).String()
		}
		return fmt.Sprint(n)
	}
	if m.forecast == m.fact {
		return text(m.fact)
	}
	return text(m.forecast) + " / " + text(m.fact)
}

// Nine of ten operations happen as their plan forecasts, through a real API server: in time within a quarter or 30 s, in the
// numbers of restarts and pods, and in recoveries within one, since one that is interrupted begins again.
func TestForecastsHoldInASandbox(t *testing.T) {
	if !calibrating() {
		t.Skip("CALIBRATE=1 compares forecasts with what happens")
	}
	s, err := startSandbox()
	if s != nil {
		t.Cleanup(func() { s.stop(t) })
	}
	if err != nil {
		t.Fatal(err)
	}
	var (
		lock sync.Mutex
		rows = map[string][]measured{}
	)
	all := calibrated()
	t.Run("operation", func(t *testing.T) {
		for i, name := range slices.Sorted(maps.Keys(all)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				o := all[name]
				if len(given) < o.versions {
					t.Skipf("NOT RUN: needs %d versions in FDB_BIN, has %d", o.versions, len(given))
				}
				row := o.compare(&test{T: t, sandbox: s}, fmt.Sprintf("c%d", i))
				lock.Lock()
				defer lock.Unlock()
				rows[name] = row
			})
		}
	})
	reportCalibration(t, rows)
}

// compare plans the operation in a cluster of its own, carries it out, and measures both.
func (o operation) compare(t *test, name string) []measured {
	t.Helper()
	version := newest()
	if o.versions > 1 {
		version = given[0].Version
	}
	c := inNamespace(t, name)
	c.apply(t, manifest(name, version, doubled))
	before := document{}
	if !o.fresh {
		c.reconcile(t)
		time.Sleep(70 * time.Second) // longer than its processes have to run before the next restart
	}
	if o.prepare != nil {
		o.prepare(t, c)
	}
	if !o.fresh {
		before = c.status(t)
	}
	command := o.command(t, c)
	dry := c.fdb(t, command[0], append(command[1:], "--wait", "--dry-run", "-o", "json")...)
	if dry.code > 1 {
		t.Fatalf("exit code %d\n%s%s", dry.code, dry.stdout, dry.stderr)
	}
	forecast := decode[struct{ Forecast foreseen }](t, dry.stdout).Forecast
	pods := watchPods(t, c)
	began := time.Now()
	done := c.fdb(t, command[0], append(command[1:], "--wait", "--yes")...)
	took := time.Since(began)
	if done.code != 0 {
		t.Fatalf("exit code %d\n%s%s", done.code, done.stdout, done.stderr)
	}
	kept, peak, created, deleted := pods()
	after := c.status(t)
	must(t, "kubectl", "delete", "namespace", c.ns, "--wait=false")
	seconds := int(math.Round(took.Seconds()))
	planned := int(math.Round(forecast.Seconds))
	if dry.code == 0 {
		forecast.Totals.PodsAtPeak = peak // there is no forecast of nothing
	}
	row := []measured{
		{"time", planned, seconds, max(30, max(planned, seconds)/4)},
		{"recoveries", forecast.Totals.Recoveries, (after.Cluster.Generation - max(before.Cluster.Generation, first) + 1) / 2, min(forecast.Totals.Recoveries, 1)},
		{"restarts", forecast.Totals.ProcessesRestarted, restarted(after, kept, time.Since(began)), 0},
		{"pods at once", forecast.Totals.PodsAtPeak, peak, 0},
		{"pods created", forecast.Totals.PodsCreated, created, 0},
		{"pods deleted", forecast.Totals.PodsDeleted, deleted, 0},
	}
	if forecast.End != "complete" && dry.code != 0 {
		t.Errorf("the forecast is %s\n%s", forecast.End, dry.stdout)
	}
	t.Logf("%v", row)
	return row
}

// first is the generation of a database that was never configured: its recovery interrupts nothing. Each recovery adds two.
const first = 2

// restarted counts the processes of pods that were kept and that started since.
func restarted(after document, kept map[string]bool, since time.Duration) (n int) {
	for _, p := range after.Cluster.Processes {
		if kept[p.group()] && p.Uptime < since.Seconds() {
			n++
		}
	}
	return n
}

// watchPods follows the pods of a cluster until the returned function is called, which returns the process groups whose pods were
// there all the time, the most pods at once, and how many were created and deleted.
func watchPods(t *test, c *cluster) func() (kept map[string]bool, peak, created, deleted int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl"), "get", "pods", "-n", c.ns, "-w", "--output-watch-events", "-o", "json")
	cmd.Env = t.sandbox.environment()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var (
		kept                   = map[string]bool{}
		live                   = map[string]bool{}
		peak, created, deleted int
		ended                  = make(chan struct{})
		started                = time.Now().Truncate(time.Second)
	)
	go func() {
		defer close(ended)
		for stream := json.NewDecoder(out); ; {
			var e struct {
				Type   string
				Object struct {
					Metadata struct {
						UID, CreationTimestamp string
						Labels                 map[string]string
					}
				}
			}
			if stream.Decode(&e) != nil {
				return
			}
			m := e.Object.Metadata
			at, _ := time.Parse(time.RFC3339, m.CreationTimestamp)
			id := m.Labels["foundationdb.org/fdb-process-group-id"]
			switch {
			case e.Type == "ADDED" && !live[m.UID]:
				live[m.UID] = true
				if at.Before(started) {
					kept[id] = true
				} else {
					created++
				}
			case e.Type == "DELETED":
				delete(live, m.UID)
				delete(kept, id)
				deleted++
			}
			peak = max(peak, len(live))
		}
	}()
	time.Sleep(2 * time.Second) // until the list has arrived
	return func() (map[string]bool, int, int, int) {
		time.Sleep(2 * time.Second) // until the last events have
		cancel()
		<-ended
		_ = cmd.Wait()
		return kept, peak, created, deleted
	}
}

// reportCalibration prints the rows as a table of Markdown, and fails unless nine of ten are as forecast.
func reportCalibration(t *testing.T, rows map[string][]measured) {
	t.Helper()
	if len(rows) == 0 {
		t.Fatal("no operation was compared")
	}
	inside := 0
	fmt.Println("| operation | time | recoveries | restarts | pods at once | pods created | pods deleted | not as forecast |\n|---|---|---|---|---|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		var cells, out []string
		for _, m := range rows[name] {
			cells = append(cells, m.String())
			if !m.inside() {
				out = append(out, m.name)
			}
		}
		if len(out) == 0 {
			inside++
			out = []string{"-"}
		}
		fmt.Println("| " + name + " | " + strings.Join(cells, " | ") + " | " + strings.Join(out, ", ") + " |")
	}
	fmt.Printf("%d of %d operations are as forecast.\n", inside, len(rows))
	if inside*10 < len(rows)*9 {
		t.Errorf("%d of %d operations are as forecast", inside, len(rows))
	}
}
