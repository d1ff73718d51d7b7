package inspect_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// What is adopted is not rolled out any more: a user has to read where it differs,
// however many objects share a row.
func TestAPlanListsEverySpecDifferenceThatIsAdopted(t *testing.T) {
	var actions []plan.Action
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		actions = append(actions, plan.AdoptSpec{Kind: plan.KindPod, Name: name})
	}
	actions = append(actions, plan.AdoptSpec{Kind: plan.KindPod, Name: "f", Differences: []string{"hostname: x, want y"}})
	var recorder planned.PlanRecorder
	recorder.Report(reconcile.PassStarted{Preview: true, Round: 1, Stages: []plan.StageName{"AdoptSpecs"}})
	recorder.Report(reconcile.StageDecided{Stage: "AdoptSpecs", Decision: plan.Decision{Why: "asked", Actions: actions}})
	recorder.Report(reconcile.StageDone{Stage: "AdoptSpecs", Outcome: reconcile.Changed})
	var out bytes.Buffer
	if err := ui.WritePlan(&out, recorder.View(inspect.Metadata{Cluster: "sample"}), ui.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	const line = "differs: adopt pod/f unchanged, although it differs from the spec: hostname: x, want y\n"
	if !strings.Contains(out.String(), line) || strings.Count(out.String(), "adopt pod/") != 1 {
		t.Errorf("want %q and no other line of its kind:\n%s", line, out.String())
	}
}
