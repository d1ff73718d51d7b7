package planned

import "github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"

// Add adds an action, as far as it shows what it does to pods, processes and process groups.
func (t *ForecastTotals) Add(a plan.Action) {
	t.Actions++
	switch a := a.(type) { //nolint:gochecksumtype // all others change no pods and no processes
	case plan.CreatePod:
		t.PodsCreated++
	case plan.DeletePods:
		t.PodsDeleted += len(a.Pods)
	case plan.DeleteGroupObjects:
		if a.Pod != "" {
			t.PodsDeleted++
		}
	case plan.IncludeAndForget:
		t.GroupsRemoved += len(a.Groups)
	case plan.RestartProcesses:
		t.ProcessesRestarted += len(a.Addresses)
		t.MostAtOnce = max(t.MostAtOnce, len(a.Addresses))
	}
}

// Totals returns the sums of all passes, those of the forecast; without one those of the next pass, as far as its
// actions show them.
func (v PlanView) Totals() ForecastTotals {
	if v.Foresees() {
		return v.Forecast.Totals
	}
	var t ForecastTotals
	for _, item := range v.Items {
		if !item.Bookkeeping {
			t.addItem(item)
		}
	}
	return t
}

// addItem adds an item; one of a recording has no details, and counts by its kind.
func (t *ForecastTotals) addItem(item PlanItem) {
	if item.Details != nil {
		t.Add(item.Details)
		return
	}
	t.Actions++
	switch item.Kind {
	case plan.KindOf(plan.CreatePod{}):
		t.PodsCreated++
	case plan.KindOf(plan.DeletePods{}), plan.KindOf(plan.DeleteGroupObjects{}):
		t.PodsDeleted += len(item.Groups)
	case plan.KindOf(plan.RestartProcesses{}):
		t.ProcessesRestarted += len(item.Groups)
	}
}

// Foresees reports whether the plan has a forecast.
func (v PlanView) Foresees() bool { return v.Forecast != nil && v.Forecast.Unavailable == nil }
