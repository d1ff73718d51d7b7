package stages

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// BenchmarkRollout is the decision that reads most of a cluster: half of the pods of 1000 process
// groups were created from another spec.
func BenchmarkRollout(b *testing.B) {
	s := clusterOf(b, 1000)
	for i, g := range s.Groups() {
		if i%2 == 0 {
			s.Pods[g.PodName(s.Cluster)].Annotations[v1beta2.AnnotationLastAppliedSpec] = "other"
		}
	}
	stage := cluster.UpdatePods(plan.Options{})
	for b.Loop() {
		if d := stage.Decide(s); len(d.Actions) == 0 {
			b.Fatalf("nothing to do: %s", stagestest.Reason(d))
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/longestDecisions.Seconds(), "of-100ms")
}
