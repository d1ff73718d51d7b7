package stages

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/detection"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

func TestNoStageActsOrHoldsOnAReconciledCluster(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	for _, stage := range Cluster() {
		d := stage.Decide(s)
		if len(d.Actions) > 0 || d.Hold != nil {
			t.Errorf("%s wants %v and holds with %q", stage.Name, stagestest.Described(d), stagestest.Reason(d))
		}
	}
}

// A stage must neither change the snapshot nor read a facet that it does not declare.
func TestStagesReadOnlyDeclaredFacetsAndChangeNothing(t *testing.T) {
	options := cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })}
	for seed := range uint64(60) {
		s := stagestest.AnySnapshot(t, seed)
		all := append(ClusterWith(plan.Options{ReplaceOnSecurityContextChange: seed%2 == 0, Adopt: true}), requestedFor()...)
		for i, stage := range all {
			want := stage.Decide(s)
			stagestest.Explained(t, want)
			got := stage.Decide(s.Without(plan.Everything &^ stage.Facets(s)))
			if diff := cmp.Diff(want, got, options); diff != "" {
				t.Fatalf("seed %d: stage %d, %s, looked past its facets (-full +declared):\n%s", seed, i, stage.Name, diff)
			}
		}
		if diff := cmp.Diff(stagestest.AnySnapshot(t, seed), s, options); diff != "" {
			t.Fatalf("seed %d: a stage changed the snapshot (-before +after):\n%s", seed, diff)
		}
	}
}

// requestedFor are the stages that commands add to a pass.
func requestedFor() []plan.Stage {
	some := []v1beta2.ProcessGroupID{"storage-114", "storage-115", "log-101"}
	nodes := []string{stagestest.NodeName(1), stagestest.NodeName(14), stagestest.NodeName(15)}
	return []plan.Stage{
		operations.ReplaceGroups(operations.Replacement{Groups: some, Max: 2}), operations.KeepGroups(some), operations.KeepAndInclude(some), operations.SkipExclusion(some),
		operations.CordonNodes(nodes, nil), operations.UncordonNodes(nodes, nil), operations.EvictFrom(nodes), operations.EvictAgents(nodes), operations.ReplaceAllOn(nodes, 1),
		operations.ExcludeGroups(some), operations.MoveCoordinatorsOff(some), operations.IncludeTargets(operations.Inclusion{Groups: some, Targets: []string{"10.1.0.14"}}),
		detection.DetectFailures,
		operations.RestartGroups(operations.Restart{Groups: some, Since: stagestest.Noon.Add(-10 * time.Minute), Strategy: operations.RestartByWave}),
	}
}
