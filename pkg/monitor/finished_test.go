package monitor

import (
	"strconv"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
)

// What a colleague has done remains on the dashboard; what goes on is no run that has ended.
func TestRunsThatEndedAreShownBesideTheActiveOperation(t *testing.T) {
	e := &poller{observed: newObserved(time.Second)}
	for i := range 12 {
		e.runs = append(e.runs, inspect.Run{RunID: "run" + strconv.Itoa(i), User: "ann@laptop", Actions: 3, Steps: make([]inspect.RunStep, 3)})
	}
	if all := e.finished(); len(all) != mostFinished || all[0].ID != "run0" || all[0].User != "ann@laptop" || all[0].Actions != 3 || all[0].Steps != nil {
		t.Errorf("%d runs: %+v", len(all), all)
	}
	e.lease.Operation, e.lease.OperationActive = &reconcile.Operation{ID: "run0"}, true
	if all := e.finished(); all[0].ID != "run1" {
		t.Errorf("the active one is shown as ended: %+v", all[0])
	}
	e.lease.OperationActive = false
	if all := e.finished(); all[0].ID != "run0" {
		t.Errorf("one whose run was lost is not shown: %+v", all[0])
	}
}
