package why

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// What only a user can resolve about kept groups comes with the commands that resolve it.
func TestWhyPrintsPatchesForConflictsOfKeptGroups(t *testing.T) {
	const (
		patch   = "kubectl patch foundationdbcluster sample --type merge -p "
		without = patch + `{"spec":{"cancelReplacementsForInstance":["storage-2"]}}`
	)
	hold := func(stage plan.StageName, code plan.HoldCode, subjects ...string) planned.PlanHold {
		return planned.PlanHold{Stage: stage, HoldRecord: inspect.HoldRecord{Code: code, Subjects: subjects, Reason: "because", ManualIntervention: true}}
	}
	tests := map[string]struct {
		hold  planned.PlanHold
		given func(*Input)
		want  []string
	}{
		"a group differs":  {hold: hold(plan.StageReplaceMisconfiguredPods, plan.HoldKeptDiffer, "storage-1"), want: []string{without}},
		"it is too late":   {hold: hold(plan.StageCancelReplacements, plan.HoldTooLateToKeep, "storage-1"), want: []string{without}},
		"two lists differ": {hold: hold(plan.StageCancelReplacements, plan.HoldSpecContradiction, "storage-1"), want: []string{without, patch + `{"spec":{"processGroupsToRemove":[]}}`}},
		"more are kept than desired": {hold: hold(plan.StageChooseRemovals, plan.HoldSpecContradiction, "storage-1", "storage-2"), given: func(in *Input) {
			in.Cluster.Spec.ProcessCounts.Storage = 1
		}, want: []string{patch + `{"spec":{"cancelReplacementsForInstance":["storage-1"]}}`}},
	}
	for name, tc := range tests {
		for about, only := range map[string][]v1beta2.ProcessGroupID{"the cluster": nil, "the group": {"storage-1"}, "another group": {"storage-3"}} {
			t.Run(name+", asked about "+about, func(t *testing.T) {
				in := HealthyInput(t)
				in.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-1", "storage-2"}
				in.Cluster.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{"storage-1"}
				if tc.given != nil {
					tc.given(&in)
				}
				in.Plan.Holds, in.Only = []planned.PlanHold{tc.hold}, only
				v := NewReport(meta, in)
				if about == "another group" {
					if len(v.Items) > 0 {
						t.Errorf("got %+v", v.Items)
					}
					return
				}
				if len(v.Items) != 1 || v.State != Blocked || v.Items[0].Subjects[0] != "storage-1" {
					t.Fatalf("got %+v", v.Items)
				}
				if next := v.Items[0].Next; len(next) <= len(tc.want) || !slices.Equal(next[:len(tc.want)], tc.want) {
					t.Errorf("next %q, want %q first", next, tc.want)
				}
			})
		}
	}
}

// A kept group that is still marked has the reason of the stage that would revert the mark.
func TestWhyExplainsAKeptGroupThatIsStillMarked(t *testing.T) {
	in := HealthyInput(t)
	in.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-1"}
	in.Cluster.ProcessGroup("storage-1").MarkForRemoval(noon.Add(-time.Minute))
	in.Plan.Holds = []planned.PlanHold{{Stage: plan.StageCancelReplacements, HoldRecord: inspect.HoldRecord{Code: plan.HoldCheckRefused, Subjects: []string{"storage-1"}, Reason: "inclusion of storage-1 waits"}}}
	v := NewReport(meta, in)
	if len(v.Items) != 1 || v.Items[0].State != Waiting || v.Items[0].Reasons[0].Stage != plan.StageCancelReplacements {
		t.Errorf("got %+v", v.Items)
	}
}

// No replacement is announced of a group that the spec keeps.
func TestWhyAnnouncesNoReplacementOfAKeptGroup(t *testing.T) {
	in := HealthyInput(t)
	in.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-3"}
	in.Cluster.ProcessGroup("storage-3").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-30*time.Minute))
	v := NewReport(meta, in)
	if len(v.Items) == 0 || !strings.Contains(v.Items[0].Reasons[0].Message, "keeps it from being replaced") {
		t.Errorf("got %+v", v.Items)
	}
}
