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

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// exhaustion is one operation with all of its single faults.
type exhaustion struct {
	name string
	operation
}

// begin is the history of the operation before its first pass.
func (x exhaustion) begin(t *testing.T, story io.Writer) *History {
	t.Helper()
	const seed = 7
	h := blank(seed, story)
	h.clusters = x.bringUp(t, seed)
	h.w, h.typeIn, h.single, h.stages = h.clusters[0], simtest.Run, true, stages.Cluster()
	if story != nil {
		h.listen = ui.Text(story, ui.TextOptions{})
	}
	if x.change == nil {
		return h
	}
	h.database().LoadBytes(100 << 20)
	h.w.Tick(15 * time.Minute)
	h.inTurn(func() {
		x.change(h.w.Resource)
		h.w.Resource.Generation++
	})
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

// Each step of each operation meets each fault, once: no invariant breaks, and each history ends. OPERATIONS, ONLY, EVERY and
// FROM choose histories; without them a few of each operation are played.
func TestNoSingleFaultOfAnOperationBreaksAnInvariant(t *testing.T) {
	names, few := slices.Sorted(maps.Keys(operations)), uint64(300)
	if testing.Short() {
		names, few = []string{"replace"}, 120
	}
	switch chosen := os.Getenv("OPERATIONS"); chosen {
	case "":
	case "all":
		names = slices.Sorted(maps.Keys(operations))
	default:
		names = strings.Split(chosen, ",")
	}
	every, from := setting(t, "EVERY", few), setting(t, "FROM", 0)
	for _, name := range names {
		t.Run(name, func(t *testing.T) { exhaustionOf(t, name).run(t, int(every), int(from%every)) }) //nolint:gosec // small
	}
}

func exhaustionOf(t *testing.T, name string) exhaustion {
	t.Helper()
	o, is := operations[name]
	if !is {
		t.Fatalf("no operation %s: %s", name, strings.Join(slices.Sorted(maps.Keys(operations)), ", "))
	}
	return exhaustion{name, o}
}

// progressEvery is after how many histories a line shows the progress.
const progressEvery = 100

// run plays the histories, or every so many-th of them from one on, on all processors.
func (x exhaustion) run(t *testing.T, every, from int) {
	t.Helper()
	begin, all := time.Now(), x.singles(t)
	if only := os.Getenv("ONLY"); only != "" {
		all, every, from = slices.DeleteFunc(all, func(s Single) bool { return s.String() != only }), 1, 0
	}
	total := len(all)
	all = slices.Collect(func(yield func(Single) bool) {
		for i := from; i < total && yield(all[i]); i += every {
		}
	})
	broken := onAllProcessors(len(all), func(i int) bool {
		if i%progressEvery == progressEvery-1 {
			t.Logf("%s: %d of %d histories, %s", x.name, i, len(all), time.Since(begin).Round(time.Second))
		}
		return x.holds(t, all[i])
	})
	t.Logf("%s: %d of %d histories, %d with a violation, %s", x.name, len(all), total, broken, time.Since(begin).Round(time.Second))
}

// onAllProcessors does n pieces of work, and returns how many failed.
func onAllProcessors(n int, work func(int) bool) int64 {
	var next, failed atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if !work(int(i)) {
					failed.Add(1)
				}
			}
		})
	}
	workers.Wait()
	return failed.Load()
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
