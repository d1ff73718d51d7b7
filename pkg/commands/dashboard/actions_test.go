package dashboard

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// A prompt in the middle of a run names the action that nothing approved, and nothing that the run reported before.
func TestAPromptNamesTheActionThatRequiresIt(t *testing.T) {
	var beyond beyondApproval
	if beyond.words != nil {
		t.Errorf("before the first pass: %q", beyond.words)
	}
	beyond.report(reconcile.StageDone{Stage: "AddPods", Outcome: reconcile.Waiting, Reason: "a pod is pending"})
	beyond.report(reconcile.PassDone{Stopped: &reconcile.BeyondPlanError{Stage: "RemovePods", Action: plan.SetExcluded{Groups: []v1beta2.ProcessGroupID{"storage-1"}}}})
	if diff := cmp.Diff([]string{"G-PLAN: RemovePods would mark as drained: storage-1, which is not in the approved plan"}, beyond.words); diff != "" {
		t.Error(diff)
	}
	if beyond.report(reconcile.PassDone{}); beyond.words != nil {
		t.Errorf("a later prompt repeats %q", beyond.words)
	}
}
