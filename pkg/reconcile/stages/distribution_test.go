package stages

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// TestDistributionChangesReplacePodsAndDisablingRecreatesThem compares which stage treats a pod that is packed
// otherwise, and one that was packed.
func TestDistributionChangesReplacePodsAndDisablingRecreatesThem(t *testing.T) {
	four, two := stagestest.Packs(4, v1beta2.BinPackClass), stagestest.Packs(2, v1beta2.BinPackClass)
	for name, tc := range map[string]struct {
		before, after     *v1beta2.DistributionConfig
		replaced, deleted []string
	}{
		"the distribution changes": {before: four, after: two, replaced: []string{"mark for removal: storage-2"}},
		"packing is enabled":       {after: four, replaced: []string{"mark for removal: storage-1"}},
		"packing is disabled":      {before: four, deleted: []string{"recreate pods: sample-storage-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := stagestest.PackedCluster(t, tc.before, 1, 2, 3, 4)
			stagestest.All(stagestest.OnlyStorage, stagestest.Packing(tc.after))(&s)
			s.Cluster.Spec.AutomationOptions.MaxConcurrentReplacements = new(1)
			if diff := cmp.Diff(tc.replaced, stagestest.Described(replacements.ReplaceMisconfiguredPods(plan.Options{}).Decide(s))); diff != "" {
				t.Errorf("replaced (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.deleted, stagestest.Described(cluster.UpdatePods(plan.Options{}).Decide(s))); diff != "" {
				t.Errorf("recreated (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDistributionIsCheckedBeforeGroupsAreMarkedOrAdded finds the check before the first stage that marks or
// adds process groups.
func TestDistributionIsCheckedBeforeGroupsAreMarkedOrAdded(t *testing.T) {
	own := plan.Stage{Name: "Own", Decide: func(plan.Snapshot) plan.Decision { return plan.Decision{} }}
	for name, part := range map[string][]plan.Stage{
		"a pass": Cluster(), "a replacement": Replacing(own), "a drain": Draining([]string{"node-1"}, 1), "marks for removal": MarkingForRemoval(own),
	} {
		checked := false
		for _, stage := range part {
			checked = checked || stage.Name == plan.StageCheckDistribution
			switch stage.Name {
			case "Own", plan.StageReplaceMisconfiguredPods, plan.StageReplaceFailedPods, plan.StageReplaceGroups, plan.StageAddProcessGroups, plan.StageAddPods:
				if !checked {
					t.Errorf("%s: %s comes before the check", name, stage.Name)
				}
			default:
			}
		}
	}
}
