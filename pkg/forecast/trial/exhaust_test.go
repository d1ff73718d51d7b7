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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
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

// singles are all histories of the operation with one fault: at the first of the same steps before and after processes were taken down.
func (x exhaustion) singles(t *testing.T) []Single {
	t.Helper()
	all, violations := x.faults(t, nil)
	if len(violations) > 0 {
		t.Fatalf("%s without a fault: %v", x.name, violations)
	}
	return all
}

// faults are all that the operation can meet after others: at the first of the same steps, and again at the first of those after
// processes were restarted, or pods deleted, since what is recorded then is what keeps that from being repeated.
func (x exhaustion) faults(t *testing.T, former []Single) (all []Single, found []Violation) {
	t.Helper()
	h, met := x.begin(t, nil), 0
	seen, down := map[[2]Step]bool{}, Step{}
	h.arriving = func(at Step, about []v1beta2.ProcessGroupID) bool {
		if met < len(former) {
			if at != former[met].Step {
				return false
			}
			h.meet(former[met])
			met++
			return true
		}
		same := [2]Step{{Stage: at.Stage, Kind: at.Kind}, down}
		if takesDown(at.Kind) {
			down = same[0]
		}
		if h.calm || seen[same] && at.Stage != "" {
			return false
		}
		seen[same] = true
		if at.Stage == "" && at.Pass > firstPassAfter(former)+mostPassSteps {
			return false
		}
		for _, f := range h.faults(at, about) {
			all = append(all, Single{at, f})
		}
		return false
	}
	h.endure(t.Context())
	h.converge(t.Context())
	return all, h.violations
}

// takesDown reports whether actions of a kind take processes down.
func takesDown(kind string) bool {
	return kind == plan.KindOf(plan.RestartProcesses{}) || kind == plan.KindOf(plan.DeletePods{})
}

// mostPassSteps is how many of the passes of an operation meet faults before they begin.
const mostPassSteps = 2

// firstPassAfter is the pass of the last fault; 0 for none.
func firstPassAfter(former []Single) int {
	if len(former) == 0 {
		return 0
	}
	return former[len(former)-1].Step.Pass
}

// meet lets a fault happen. The next one is what the cluster can lose beside it.
func (h *History) meet(s Single) {
	s.Fault.happen(h)
	h.single = false
}

// play plays the operation with faults, one after the other, and returns whether their steps came, and what did not hold.
func (x exhaustion) play(t *testing.T, faults []Single, story io.Writer) (came bool, found []Violation) {
	t.Helper()
	h, met := x.begin(t, story), 0
	h.arriving = func(at Step, _ []v1beta2.ProcessGroupID) bool {
		if met == len(faults) || at != faults[met].Step {
			return false
		}
		h.meet(faults[met])
		met++
		return true
	}
	h.endure(t.Context())
	h.converge(t.Context())
	return met == len(faults), h.violations
}

// Each step of each operation meets each fault, once: no invariant breaks, and each history ends. OPERATIONS, ONLY, FAULTS, EVERY and
// FROM choose histories; without them a few of each operation are played.
func TestNoSingleFaultOfAnOperationBreaksAnInvariant(t *testing.T) {
	few := uint64(300)
	if testing.Short() {
		few = 2000
	}
	every, from := setting(t, "EVERY", few), setting(t, "FROM", 0)
	for _, x := range chosen(t) {
		t.Run(x.name, func(t *testing.T) { x.run(t, int(every), int(from%every)) })
	}
}

// chosen are the operations that OPERATIONS names: all without a name.
func chosen(t *testing.T) []exhaustion {
	t.Helper()
	names := slices.Sorted(maps.Keys(operations))
	if text := os.Getenv("OPERATIONS"); text != "" && text != "all" {
		names = strings.Split(text, ",")
	}
	var all []exhaustion
	for _, name := range names {
		all = append(all, exhaustionOf(t, name))
	}
	return all
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
	if codes := os.Getenv("FAULTS"); codes != "" {
		all = slices.DeleteFunc(all, func(s Single) bool { return !slices.Contains(strings.Split(codes, ","), s.Fault.Code()) })
	}
	total := len(all)
	all = everyOf(all, every, from)
	broken := onAllProcessors(len(all), func(i int) bool {
		if i%progressEvery == progressEvery-1 {
			t.Logf("%s: %d of %d histories, %s", x.name, i, len(all), time.Since(begin).Round(time.Second))
		}
		return x.holds(t, all[i:i+1])
	})
	t.Logf("%s: %d of %d histories, %d with a violation, %s", x.name, len(all), total, broken, time.Since(begin).Round(time.Second))
}

// everyOf is every so many-th of them from one on.
func everyOf(all []Single, every, from int) []Single {
	return slices.Collect(func(yield func(Single) bool) {
		for i := from; i < len(all) && yield(all[i]); i += every {
		}
	})
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
func (x exhaustion) holds(t *testing.T, faults []Single) bool {
	t.Helper()
	came, found := x.play(t, faults, nil)
	if came && len(found) == 0 {
		return true
	}
	var story bytes.Buffer
	if os.Getenv("ONLY") != "" {
		x.play(t, faults, &story)
	}
	t.Errorf("%v\n%smake exhaust %sOPERATIONS=%s ONLY=%s", found, story.String(), ofPairs[len(faults)-1], x.name, nameOf(faults))
	return false
}

// ofPairs is how a history of one fault is repeated, or of two.
var ofPairs = []string{"", "PAIRS=1 "}

// nameOf is how a history with faults is named.
func nameOf(faults []Single) string {
	var names []string
	for _, s := range faults {
		names = append(names, s.String())
	}
	return strings.Join(names, ",")
}
