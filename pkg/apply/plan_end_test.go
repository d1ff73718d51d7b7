package apply

import (
	"errors"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestAPlanThatBreaksAnInvariantInASimulationIsRefused(t *testing.T) {
	broken := planned.SingleFaults{Histories: []planned.SingleFault{
		{End: planned.ForecastComplete},
		{End: planned.ForecastUnfinished, Violations: []planned.BrokenInvariant{{Invariant: "loses-data"}}},
	}}.Summed()
	err := planEnd(planned.PlanView{SingleFaults: &broken}, reconcile.PassDone{Outcome: reconcile.Done})
	refused, is := errors.AsType[*exit.Error](err)
	if !is || refused.Code != exit.ExitRefused {
		t.Errorf("ends with %v", err)
	}
	held := planned.SingleFaults{Histories: broken.Histories[:1]}.Summed()
	if err := planEnd(planned.PlanView{SingleFaults: &held}, reconcile.PassDone{Outcome: reconcile.Done}); err != nil {
		t.Errorf("ends with %v although all invariants hold", err)
	}
}
