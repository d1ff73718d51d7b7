package trial

import (
	"bytes"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// operations are changes of a settled cluster, of which each step meets each fault.
var operations = map[string]func(*v1beta2.FoundationDBCluster){
	"grow": func(c *v1beta2.FoundationDBCluster) { c.Spec.ProcessCounts.Storage, c.Spec.ProcessCounts.Log = 5, 5 },
	"shrink": func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts.Storage, c.Spec.ProcessCounts.Stateless = 3, 3
	},
	"replace": func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessGroupsToRemove = firstOf(c, v1beta2.ProcessClassStorage, v1beta2.ProcessClassStateless)
	},
	"knob": general(v1beta2.ProcessSettings{CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_max_trace_lines=1000"}}),
	"template": general(v1beta2.ProcessSettings{
		PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{ServiceAccountName: "fdb"}},
	}),
	"upgrade":              func(c *v1beta2.FoundationDBCluster) { c.Spec.Version = "7.3.80" },
	"upgrade-incompatible": func(c *v1beta2.FoundationDBCluster) { c.Spec.Version = "7.4.6" },
	"redundancy": func(c *v1beta2.FoundationDBCluster) {
		c.Spec.DatabaseConfiguration.RedundancyMode, c.Spec.ProcessCounts.Storage = v1beta2.RedundancyModeTriple, 5
	},
	"coordinators": func(c *v1beta2.FoundationDBCluster) {
		c.Spec.CoordinatorSelection = []v1beta2.CoordinatorSelectionSetting{{ProcessClass: v1beta2.ProcessClassLog, Priority: 10}}
	},
	"prefix": func(c *v1beta2.FoundationDBCluster) { c.Spec.ProcessGroupIDPrefix = "east" },
}

// general are settings of all classes.
func general(p v1beta2.ProcessSettings) func(*v1beta2.FoundationDBCluster) {
	return func(c *v1beta2.FoundationDBCluster) {
		c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: p}
	}
}

// firstOf is the first process group of each of some classes.
func firstOf(c *v1beta2.FoundationDBCluster, classes ...v1beta2.ProcessClass) []v1beta2.ProcessGroupID {
	var ids []v1beta2.ProcessGroupID
	for _, class := range classes {
		for _, g := range c.Status.ProcessGroups {
			if g.ProcessClass == class {
				ids = append(ids, g.ProcessGroupID)
				break
			}
		}
	}
	return ids
}

// exhaustion is one operation with all of its single faults.
type exhaustion struct{ name string }

// begin is the history of the operation before its first pass.
func (x exhaustion) begin(t *testing.T, story io.Writer) *History {
	t.Helper()
	const seed = 7
	w, err := simtest.Sample(seed, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 4, Log: 4, Stateless: 4}
		c.Spec.LockOptions.DisableLocks = new(false)
		c.Spec.AutomationOptions.Replacements.FailureDetectionTimeSeconds = new(600)
		c.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Nodes = simtest.NodeNames(14)
	h := blank(seed, story)
	h.w, h.clusters, h.typeIn, h.single = w, []*sim.Cluster{w}, simtest.Run, true
	if story != nil {
		h.listen = ui.Text(story, ui.TextOptions{})
	}
	h.stages = stages.Cluster()
	if err := simtest.Settle(t.Context(), 14, w); err != nil {
		t.Fatal(err)
	}
	h.database().LoadBytes(100 << 20)
	w.Tick(15 * time.Minute)
	operations[x.name](w.Resource)
	w.Resource.Generation++
	return h
}

// singles are all histories of the operation with one fault: at the first of the same steps.
func (x exhaustion) singles(t *testing.T) []Single {
	t.Helper()
	h := x.begin(t, nil)
	var all []Single
	seen := map[Step]bool{}
	h.arriving = func(at Step, about []v1beta2.ProcessGroupID) bool {
		same := Step{Stage: at.Stage, Kind: at.Kind}
		if h.calm || seen[same] && at.Stage != "" {
			return false
		}
		seen[same] = true
		if at.Stage == "" && at.Pass > mostPassSteps {
			return false
		}
		for _, f := range h.faults(at, about) {
			all = append(all, Single{at, f})
		}
		return false
	}
	h.endure(t.Context())
	if h.converge(t.Context()); h.violated() {
		t.Fatalf("%s without a fault: %v", x.name, h.violations)
	}
	return all
}

// mostPassSteps is how many of the passes of an operation meet faults before they begin.
const mostPassSteps = 2

// play plays the operation with one fault, and returns whether its step came, and what did not hold.
func (x exhaustion) play(t *testing.T, s Single, story io.Writer) (came bool, found []Violation) {
	t.Helper()
	h := x.begin(t, story)
	h.arriving = func(at Step, _ []v1beta2.ProcessGroupID) bool {
		if came || at != s.Step {
			return false
		}
		came = true
		s.Fault.happen(h)
		return true
	}
	h.endure(t.Context())
	h.converge(t.Context())
	return came, h.violations
}

// Each step of each operation meets each fault, once: no invariant breaks, and each history ends. OPERATIONS, ONLY and EVERY
// choose histories; without them a few of one operation are played.
func TestNoSingleFaultOfAnOperationBreaksAnInvariant(t *testing.T) {
	names, few := slices.Sorted(maps.Keys(operations)), uint64(1)
	switch chosen := os.Getenv("OPERATIONS"); chosen {
	case "all":
	case "":
		names, few = []string{"replace"}, 120
	default:
		names = strings.Split(chosen, ",")
	}
	every := setting(t, "EVERY", few)
	for _, name := range names {
		t.Run(name, func(t *testing.T) { exhaustion{name: name}.run(t, int(every)) })
	}
}

// progressEvery is after how many histories a line shows the progress.
const progressEvery = 100

// run plays the histories, or every so many-th of them, on all processors.
func (x exhaustion) run(t *testing.T, every int) {
	t.Helper()
	if operations[x.name] == nil {
		t.Fatalf("no operation %s: %s", x.name, strings.Join(slices.Sorted(maps.Keys(operations)), ", "))
	}
	begin, all := time.Now(), x.singles(t)
	if only := os.Getenv("ONLY"); only != "" {
		all = slices.DeleteFunc(all, func(s Single) bool { return s.String() != only })
	}
	total := len(all)
	all = slices.Collect(func(yield func(Single) bool) {
		for i := 0; i < total && yield(all[i]); i += every {
		}
	})
	var next, broken atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(all)); i = next.Add(1) - 1 {
				if i%progressEvery == progressEvery-1 {
					t.Logf("%s: %d of %d histories, %s", x.name, i, len(all), time.Since(begin).Round(time.Second))
				}
				if !x.holds(t, all[i]) {
					broken.Add(1)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%s: %d of %d histories, %d with a violation, %s", x.name, len(all), total, broken.Load(), time.Since(begin).Round(time.Second))
}

// holds plays one history, and prints its story if an invariant breaks.
func (x exhaustion) holds(t *testing.T, s Single) bool {
	t.Helper()
	came, found := x.play(t, s, nil)
	if came && len(found) == 0 {
		return true
	}
	var story bytes.Buffer
	if os.Getenv("ONLY") != "" {
		x.play(t, s, &story)
	}
	t.Errorf("%v\n%smake exhaust OPERATIONS=%s ONLY=%s", found, story.String(), x.name, s)
	return false
}
