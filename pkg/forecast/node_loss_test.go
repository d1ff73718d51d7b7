package forecast_test

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// A forecast has what the loss of one more node would do in each phase that changes processes or data.
func TestAForecastShowsTheEffectOfANodeLoss(t *testing.T) {
	type key struct {
		stage plan.StageName
		kind  string
	}
	knob := func(w *sim.Cluster) {
		w.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_disable_posix_kernel_aio=1"}},
		}
	}
	for name, tc := range map[string]struct {
		redundancy string
		change     func(*sim.Cluster)
		want       map[key]planned.NodeLoss
	}{
		"all processes restart at once": {
			change: knob, want: map[key]planned.NodeLoss{{plan.StageBounceProcesses, plan.KindOf(plan.RestartProcesses{})}: planned.NodeLossAlreadyPaused},
		},
		"pods of one fault domain at a time leave one of two copies": {
			change: func(w *sim.Cluster) { w.Resource.Spec.Version = "7.4.6" },
			want:   map[key]planned.NodeLoss{{plan.StageUpdatePods, plan.KindOf(plan.DeletePods{})}: planned.NodeLossPauses},
		},
		"and two of three": {
			redundancy: "triple", change: func(w *sim.Cluster) { w.Resource.Spec.Version = "7.4.6" },
			want: map[key]planned.NodeLoss{{plan.StageUpdatePods, plan.KindOf(plan.DeletePods{})}: planned.NodeLossTolerated},
		},
		"data is drained with all of its copies": {
			change: func(w *sim.Cluster) {
				w.Resource.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassStorage)}
			},
			want: map[key]planned.NodeLoss{{plan.StageExcludeInstances, plan.KindOf(plan.Exclude{})}: planned.NodeLossTolerated},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := settled(t, func(c *v1beta2.FoundationDBCluster) {
				if tc.redundancy != "" {
					c.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyMode(tc.redundancy)
				}
			})
			tc.change(w)
			w.Resource.Generation++
			f := forecastOf(t, w)
			for k, want := range tc.want {
				phase := f.Phase(k.stage, k.kind)
				if phase == nil {
					t.Fatalf("no phase %s %s: %s", k.stage, k.kind, summary(f))
				}
				if got := phase.IfNodeIsLost(); got != want {
					t.Errorf("%s %s: %q, want %q", k.stage, k.kind, got, want)
				}
			}
			for _, p := range f.Phases {
				if p.Impact == plan.NoImpact && p.IfNodeIsLost() != "" {
					t.Errorf("%s %s has no impact, and %q", p.Stage, p.Kind, p.IfNodeIsLost())
				}
			}
		})
	}
}
