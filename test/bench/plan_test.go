package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// knob is a change of the spec that restarts every process once.
const knob = `{"spec":{"processes":{"general":{"customParameters":["knob_max_trace_lines=900001"]}}}}`

// The plan of a change that is only in a file, with its forecast, beside the plan of the same change once it is stored.
func BenchmarkPlanOfAFile(b *testing.B) {
	// Pods that only exist as objects are collected after some time, so that many groups are planned once.
	for groups, rounds := range map[int]int{16: 5, 1000: 1} {
		b.Run(strconv.Itoa(groups), func(b *testing.B) {
			sandbox, _ := ready(b, groups)
			file := filepath.Join(sandbox.dir, "changed.yaml")
			changed := sandbox.must(b, "kubectl", "patch", "fdb", clusterName, "-n", namespace, "--type=merge", "-p", knob, "--dry-run=client", "-o", "yaml").stdout
			if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				proposed := sandbox.bestPlan(b, rounds, "-f", file)
				sandbox.must(b, "kubectl", "patch", "fdb", clusterName, "-n", namespace, "--type=merge", "-p", knob)
				stored := sandbox.bestPlan(b, rounds)
				b.ReportMetric(proposed.took.Seconds(), "file-s")
				b.ReportMetric(float64(proposed.memory)/(1<<20), "file-MiB")
				b.ReportMetric(stored.took.Seconds(), "stored-s")
				b.ReportMetric(float64(proposed.took)/float64(stored.took), "file/stored")
			}
		})
	}
}

// bestPlan is the shortest of so many plans that restart processes; see bestOf.
func (b *box) bestPlan(tb testing.TB, rounds int, args ...string) outcome {
	tb.Helper()
	best := outcome{took: time.Hour}
	for range rounds {
		o := b.fdb(tb, append([]string{"plan", clusterName}, args...)...)
		if o.code != 1 || !strings.Contains(o.stdout, "knob_max_trace_lines") || !strings.Contains(o.stdout, "Forecast: complete") {
			tb.Fatalf("plan %s: exit code %d\n%s%s", strings.Join(args, " "), o.code, tail(o.stdout), tail(o.stderr))
		}
		if o.took < best.took {
			best = o
		}
	}
	return best
}
