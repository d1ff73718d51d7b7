package stages

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// clusterOf returns a reconciled cluster with a number of process groups.
func clusterOf(tb testing.TB, groups int) plan.Snapshot {
	tb.Helper()
	const others = 13 // of the classes log and stateless
	return stagestest.HealthyClusterOf(tb, groups-others)
}

// decideAll runs every stage, as a pass without changes does, with a memo that knows nothing yet.
func decideAll(tb testing.TB, s plan.Snapshot) {
	tb.Helper()
	s.Hashes = plan.NewHashMemo()
	for _, stage := range Cluster() {
		if d := stage.Decide(s); len(d.Actions) > 0 || d.Hold != nil {
			tb.Fatalf("%s wants %d actions and holds with %q", stage.Name, len(d.Actions), stagestest.Reason(d))
		}
	}
}

// longestDecisions is the maximum time of a pass' decisions about 1000 groups.
const longestDecisions = 100 * time.Millisecond

func BenchmarkDecisions(b *testing.B) {
	for _, groups := range []int{16, 100, 1000} {
		s := clusterOf(b, groups)
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				decideAll(b, s)
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/longestDecisions.Seconds(), "of-100ms")
		})
	}
}

func BenchmarkStage(b *testing.B) {
	s := clusterOf(b, 1000)
	for i, stage := range Cluster() {
		b.Run(fmt.Sprintf("%02d=%s", i+1, stage.Name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				stage.Decide(s)
			}
		})
	}
}

// cost returns the time and memory of one pass' decisions.
func cost(tb testing.TB, s plan.Snapshot, rounds int) (time.Duration, uint64) {
	tb.Helper()
	decideAll(tb, s) // warm
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	best := time.Duration(1<<63 - 1)
	for range rounds {
		begun := time.Now()
		decideAll(tb, s)
		best = min(best, time.Since(begun))
	}
	runtime.ReadMemStats(&after)
	return best, (after.TotalAlloc - before.TotalAlloc) / uint64(rounds)
}

// Ten times the process groups should cost about ten times as much: a ratio within one run shows
// that on any machine.
func BenchmarkDecisionsGrow(b *testing.B) {
	small, large := clusterOf(b, 100), clusterOf(b, 1000)
	for b.Loop() {
		const rounds = 5
		smallTime, smallMemory := cost(b, small, rounds)
		largeTime, largeMemory := cost(b, large, rounds)
		b.ReportMetric(float64(largeTime)/float64(smallTime), "time-1000/100")
		b.ReportMetric(float64(largeMemory)/float64(smallMemory), "memory-1000/100")
	}
}

// maxGrowth is the maximum factor of memory for ten times the process groups.
const maxGrowth = 15

func TestDecisionMemoryGrowsLinearlyWithProcessGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory over 1000 process groups")
	}
	_, small := cost(t, clusterOf(t, 100), 1)
	_, large := cost(t, clusterOf(t, 1000), 1)
	if ratio := float64(large) / float64(small); ratio > maxGrowth {
		t.Errorf("1000 process groups take %.1f times the memory of 100, at most %d", ratio, maxGrowth)
	}
}
