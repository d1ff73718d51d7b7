package inspect_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// longestView is the maximum time in which status judges 500 process groups.
const longestView = 200 * time.Millisecond

func BenchmarkStatusView(b *testing.B) {
	for _, groups := range []int{100, 500} {
		const others = 13 // of the classes log and stateless
		f := inspect.Facts{Snapshot: stagestest.HealthyClusterOf(b, groups-others)}.IndexProcesses()
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			for b.Loop() {
				inspect.NewStatusView(inspect.Metadata{}, f)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/longestView.Seconds(), "of-200ms")
		})
	}
}
