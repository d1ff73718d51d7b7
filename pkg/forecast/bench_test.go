package forecast_test

import (
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// forecastGoals are how much processor time the forecast of an upgrade may take, by the number of
// process groups.
var forecastGoals = map[int]time.Duration{16: 100 * time.Millisecond, 1000: 2 * time.Second}

// forecastMemory is how large the heap may become meanwhile.
const forecastMemory = 200 << 20

// The forecast of an upgrade to another protocol, the longest of all changes.
func BenchmarkForecastOfAnUpgrade(b *testing.B) {
	for _, groups := range []int{16, 1000} {
		b.Run(strconv.Itoa(groups), func(b *testing.B) {
			s := upgrading(b, groups)
			b.ReportAllocs()
			runtime.GC()
			before := processorTime(b)
			for b.Loop() {
				f, err := forecast.Play(b.Context(), forecast.Request{Observed: s, Stages: stages.Cluster(), Seed: 1})
				if err != nil || f.End != planned.ForecastComplete {
					b.Fatalf("%s: %v %+v", f.End, err, f.Unavailable)
				}
				b.ReportMetric(float64(f.Passes), "passes")
			}
			spent := (processorTime(b) - before) / time.Duration(b.N)
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			b.ReportMetric(spent.Seconds(), "cpu-s")
			b.ReportMetric(spent.Seconds()/forecastGoals[groups].Seconds(), "of-goal")
			b.ReportMetric(float64(memory.HeapSys)/forecastMemory, "of-200MB")
		})
	}
}

// processorTime is what this program has used until now, its garbage collector included: other
// work on the machine changes it less than the time that passes.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func upgrading(b *testing.B, groups int) plan.Snapshot {
	b.Helper()
	w, err := sim.New(clusterOf(func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: groups - 13, Log: 4, Stateless: 9}
	}), 7)
	if err != nil {
		b.Fatal(err)
	}
	for range 20 {
		p := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Actor: w, Report: func(reconcile.Event) {}, Seed: 42}
		if _, err := p.Run(b.Context()); err != nil {
			b.Fatal(err)
		}
		w.Tick(30 * time.Second)
	}
	w.Resource.Spec.Version = "7.4.6"
	w.Resource.Generation++
	var s plan.Snapshot
	if err := w.Observe(b.Context(), &s, plan.Everything); err != nil {
		b.Fatal(err)
	}
	return s
}
