package ui

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// What a renderer of tables adds to a style would be shown as text.
func TestAColoredPlanHasTheTextOfAPlainOne(t *testing.T) {
	var recorder planned.PlanRecorder
	recorder.Report(reconcile.StageDecided{Stage: "S", Decision: plan.Decision{Actions: []plan.Action{
		plan.CreatePod{Group: "storage-1", Name: "sample-storage-1"}, plan.Exclude{Groups: []v1beta2.ProcessGroupID{"storage-2"}},
	}}})
	texts := map[bool]string{}
	for _, color := range []bool{false, true} {
		var out bytes.Buffer
		page := layout.NewPage(&out, func() int { return 80 })
		if err := WritePlan(page, recorder.View(inspect.Metadata{Cluster: "sample"}), PlanOptions{Paint: Paint{Color: color}}); err != nil {
			t.Fatal(err)
		}
		texts[color] = regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(out.String(), "")
		if color && texts[color] == out.String() {
			t.Error("no colors")
		}
	}
	if diff := cmp.Diff(texts[false], texts[true]); diff != "" {
		t.Error(diff)
	}
}

// A check of a plan that passes later by itself is no refusal.
func TestAPlanShowsTemporaryRefusalsAsLaterOrNotYet(t *testing.T) {
	for name, c := range map[string]struct {
		e    reconcile.Event
		want string
	}{
		"too soon after a recovery": {
			reconcile.StageDecided{Stage: "S", Decision: plan.Decision{
				Checks: []plan.Check{{Gate: plan.GateRecovery, Question: "q"}}, Hold: &plan.Hold{Code: plan.HoldCheckRefused},
			}}, "later: S (G-RECOVERY): q",
		},
		"an unavailable database": {
			reconcile.StageDecided{Stage: "S", Decision: plan.Decision{
				Checks: []plan.Check{{Gate: plan.GateAvailable, Question: "q"}}, Hold: &plan.Hold{Code: plan.HoldCheckRefused},
			}}, "refused: G-AVAIL",
		},
		"an active operator":               {reconcile.GatesChecked{Checks: []plan.Check{{Gate: plan.GateOperator, Question: "q"}}}, "refused: G-OPERATOR"},
		"a lock that another run releases": {reconcile.GatesChecked{Checks: []plan.Check{{Gate: plan.GateLock, Question: "q"}}}, "not yet: G-LOCK"},
	} {
		var recorder planned.PlanRecorder
		recorder.Report(c.e)
		var out bytes.Buffer
		if err := WritePlan(&out, recorder.View(inspect.Metadata{Cluster: "sample"}), PlanOptions{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: want %q:\n%s", name, c.want, &out)
		}
	}
}
