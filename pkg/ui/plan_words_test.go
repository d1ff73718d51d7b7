package ui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
