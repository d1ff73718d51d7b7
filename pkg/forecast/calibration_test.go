package forecast_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
)

// calibrated is the page with the table of all operations.
const calibrated = "../../docs/performance.md"

var calibrate = flag.Bool("calibrate", false, "write the table of "+calibrated+" again")

// troubled are operations of clusters with process groups that are dead, pending or refused, and of those with data. What passes
// do is not compared action by action: how often one is tried again depends on when a pass comes.
var troubled = map[string]journey{
	"dead process group, its automatic replacement": {begin: withDead},
	"dead process group, its replacement":           {begin: withDead, stages: replaceMarked},
	"dead process group, growth":                    {begin: withDead, change: growth},
	"dead process group, knob change":               {begin: withDead, change: setKnob},
	"pending process group, its replacement":        {begin: withPending, stages: replaceMarked},
	"pending process group, growth":                 {begin: withPending, change: growth},
	"quota, replacement refused":                    {begin: withQuota, stages: replaceMarked},
	"quota, growth refused":                         {begin: withQuota, change: growth},
	"data, growth":                                  {begin: withData, change: growth},
	"data, shrinking":                               {begin: withData, change: func(w *sim.Cluster) { w.Resource.Spec.ProcessCounts.Storage-- }},
	"data, replacement":                             {begin: withData, stages: replaceMarked},
	"data, storage engine change":                   {begin: withData, change: migrateEngine},
	"data, redundancy mode change":                  {begin: withData, change: func(w *sim.Cluster) { w.Resource.Spec.DatabaseConfiguration.RedundancyMode = "triple" }},
}

func growth(w *sim.Cluster) { w.Resource.Spec.ProcessCounts.Storage += 2 }

// withDead is a cluster with a storage process group whose process does not start again.
func withDead(t *testing.T) *sim.Cluster {
	t.Helper()
	w := settled(t, nil)
	lost := w.Resource.ProcessGroup(groupOf(w, v1beta2.ProcessClassStorage)).PodName(w.Resource)
	w.Broken[lost] = true
	w.KillServers(lost)
	w.Tick(time.Minute)
	onePass(t, w)
	w.Tick(10 * time.Minute)
	return w
}

// withPending is a cluster with a storage process group whose new pod fits no node.
func withPending(t *testing.T) *sim.Cluster {
	t.Helper()
	w := settled(t, nil)
	lost := w.Resource.ProcessGroup(groupOf(w, v1beta2.ProcessClassStorage)).PodName(w.Resource)
	w.Unschedulable = map[string]bool{lost: true}
	w.KillPod(lost)
	w.Tick(time.Minute)
	onePass(t, w)
	w.Tick(10 * time.Minute)
	pod := w.Pods[lost].DeepCopy() // as the scheduler reports
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable})
	w.Pods[lost] = pod
	return w
}

// onePass records what is observed, and does what can be done at once.
func onePass(t *testing.T, w *sim.Cluster) {
	t.Helper()
	p := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Actor: w, Report: func(reconcile.Event) {}, Seed: 42}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// withQuota is a cluster in a namespace whose quota is used up.
func withQuota(t *testing.T) *sim.Cluster {
	t.Helper()
	w := settled(t, nil)
	r := plan.NewRefusal(plan.WrittenPod, "p", plan.RefusedByQuota, "pods", "exceeded quota: pods")
	w.Reject = func(v1beta2.ProcessClass) *plan.Refusal { return &r }
	return w
}

// withData is a cluster with 8 GiB of data.
func withData(t *testing.T) *sim.Cluster {
	t.Helper()
	w := settled(t, nil)
	for _, db := range w.FDB.Databases() {
		db.LoadBytes(8 << 30)
	}
	w.Tick(20 * time.Minute)
	return w
}

// replaceMarked replaces the first storage process group.
func replaceMarked(w *sim.Cluster) []plan.Stage {
	return stages.Replacing(operations.ReplaceGroups(operations.Replacement{Groups: []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassStorage)}, Max: 1}))
}

// fact is what passes did until they ended, as a forecast has it.
type fact struct {
	end     planned.ForecastEnd
	seconds float64
	done    map[string]int
	totals  planned.ForecastTotals
}

// lives runs passes as a command does, until nothing is left or a user is needed.
func lives(t *testing.T, w *sim.Cluster, list []plan.Stage) fact {
	t.Helper()
	f := fact{done: map[string]int{}}
	start, acted, before, essential, held := w.Now(), w.Now(), w.Counters(), -1.0, false
	report := func(e reconcile.Event) {
		switch e := e.(type) { //nolint:gochecksumtype // other events change nothing
		case reconcile.ActionDone:
			if e.Err == nil && !plan.Records(e.Action) {
				f.done[string(e.Stage)+" "+plan.KindOf(e.Action)]++
				f.totals.Add(e.Action)
				acted = w.Now()
			}
		case reconcile.StageDecided:
			held = held || e.Hold != nil
		}
		f.totals.PodsAtPeak = max(f.totals.PodsAtPeak, len(w.Pods))
	}
	for f.end == "" {
		held = false
		p := reconcile.Pass{Stages: list, Observer: w, Actor: w, Report: report, Seed: 42}
		end, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if held {
			essential = -1
		}
		if now := w.Now().Sub(start).Seconds(); end.Outcome == reconcile.Done && essential < 0 {
			essential = now
		}
		switch idle := w.Now().Sub(acted); {
		case end.Settled():
			f.end = planned.ForecastComplete
		case end.Outcome == reconcile.Blocked && idle > time.Hour:
			f.end = planned.ForecastBlocked
		case idle > 3*time.Hour:
			f.end = planned.ForecastWaiting
		default:
			w.Await(t.Context(), pause(end, acted.Equal(w.Now())), pace.DefaultInterval)
		}
	}
	if f.seconds = essential; essential < 0 {
		f.seconds = w.Now().Sub(start).Seconds()
	}
	now := w.Counters()
	f.totals.Recoveries, f.totals.MovedBytes = now.Recoveries-before.Recoveries, now.MovedBytes-before.MovedBytes
	return f
}

// row is an operation of the table, and measures what a forecast has and what happened.
type row struct {
	name     string
	measures []measure
}

type measure struct {
	name           string
	forecast, fact string
	inside         bool
}

// compare measures a forecast. Counts are inside if they are the same, a time if it differs by at most a quarter or half a minute,
// bytes if they differ by at most a quarter or 64 MiB.
func compare(name string, f planned.Forecast, happened fact) row {
	near := func(x, y, least float64) bool { return math.Abs(x-y) <= max(least, max(x, y)/4) }
	count := func(what string, x, y int) measure { return measure{what, fmt.Sprint(x), fmt.Sprint(y), x == y} }
	took := measure{"time", seconds(f.Seconds), seconds(happened.seconds), near(f.Seconds, happened.seconds, 30)}
	if f.End != planned.ForecastComplete || happened.end != planned.ForecastComplete {
		took = measure{"end", string(f.End), string(happened.end), f.End == happened.end}
	}
	moved, did := f.Totals.MovedBytes, happened.totals.MovedBytes
	return row{name, []measure{
		took,
		count("recoveries", f.Totals.Recoveries, happened.totals.Recoveries),
		count("restarts", f.Totals.ProcessesRestarted, happened.totals.ProcessesRestarted),
		count("pods at once", f.Totals.PodsAtPeak, happened.totals.PodsAtPeak),
		{"moved", mebibytes(moved), mebibytes(did), near(float64(moved), float64(did), 64<<20)},
	}}
}

func seconds(s float64) string { return (time.Duration(s) * time.Second).String() }

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<19)>>20) }

// outside are the measures that are not as forecast.
func (r row) outside() (names []string) {
	for _, m := range r.measures {
		if !m.inside {
			names = append(names, m.name)
		}
	}
	return names
}

func (r row) String() string {
	var cells []string
	for _, m := range r.measures {
		cells = append(cells, cmp.Or(map[bool]string{true: m.forecast}[m.forecast == m.fact], m.forecast+" / "+m.fact))
	}
	return "| " + r.name + " | " + strings.Join(cells, " | ") + " | " + cmp.Or(strings.Join(r.outside(), ", "), "-") + " |"
}

// surprising are the operations that a forecast does not foresee within these ranges, and why.
var surprising = map[string]string{
	"quota, growth refused": "a forecast assumes that the API server accepts what passes create; a plan has the quotas that this exceeds beside it",
}

// At least nine of ten operations happen as forecast, in all that a plan prints of them, and the page has all of them.
func TestNineOfTenForecastsAreWithinTheirRanges(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of processor time")
	}
	var (
		lock sync.Mutex
		rows = map[string]row{}
	)
	all := maps.Clone(journeys)
	maps.Copy(all, troubled)
	t.Run("operation", func(t *testing.T) {
		for name, j := range all {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := j.start(t)
				list := j.list(w)
				f := forecastWith(t, w, list)
				r := compare(name, f, lives(t, w, list))
				lock.Lock()
				defer lock.Unlock()
				rows[name] = r
			})
		}
	})
	if t.Failed() {
		return
	}
	var table strings.Builder
	inside := 0
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		fmt.Fprintln(&table, r)
		if out := r.outside(); len(out) == 0 {
			inside++
		} else if surprising[name] == "" {
			t.Errorf("not as forecast: %s", r)
		}
		if len(r.outside()) == 0 && surprising[name] != "" {
			t.Errorf("as forecast, and among the surprises: %s", r)
		}
	}
	if inside*10 < len(rows)*9 {
		t.Errorf("%d of %d operations are as forecast\n%s", inside, len(rows), table.String())
	}
	asOnThePage(t, rows, table.String(), inside)
}

const (
	tableBegins = "<!-- calibration -->\n"
	tableEnds   = "<!-- end of the calibration -->"
)

// asOnThePage compares the verdicts of the table on the page; its numbers are those of the run that wrote it.
func asOnThePage(t *testing.T, rows map[string]row, table string, inside int) {
	t.Helper()
	text, err := os.ReadFile(calibrated)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), tableBegins)
	old, tail, found := strings.Cut(rest, tableEnds)
	if !found {
		t.Fatalf("%s has no table between %q and %q", calibrated, tableBegins, tableEnds)
	}
	if *calibrate {
		summary := fmt.Sprintf("%d of %d operations are as forecast.", inside, len(rows))
		for _, name := range slices.Sorted(maps.Keys(surprising)) {
			summary += fmt.Sprintf(" %q is not: %s.", name, surprising[name])
		}
		summary += "\n\n"
		text := head + tableBegins + summary + "| operation | time | recoveries | restarts | pods at once | moved | not as forecast |\n|---|---|---|---|---|---|---|\n" + table + tableEnds + tail
		if err := os.WriteFile(calibrated, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name, r := range rows {
		i := strings.Index(old, "| "+name+" | ")
		if line, _, _ := strings.Cut(old[max(i, 0):], "\n"); i < 0 || !strings.HasSuffix(line, "| "+cmp.Or(strings.Join(r.outside(), ", "), "-")+" |") {
			t.Errorf("%s has another row than %s: make calibrate writes it again", calibrated, r)
		}
	}
}
