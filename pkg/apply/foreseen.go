package apply

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// foreseen is the forecast that was approved together with a plan: what later passes may do
// without another prompt. The zero value permits nothing.
type foreseen struct {
	forecast *planned.Forecast
	// added are the process groups that approved actions have created: their IDs are drawn when
	// they are created, and may differ from those of the forecast.
	added map[v1beta2.ProcessGroupID]v1beta2.ProcessClass
}

// covers reports whether an action is one of the forecast: the same stage does the same kind of
// thing to the same process groups, or to ones that were created with approval. What no process
// group is the subject of needs the stage and the kind, and a command for the database its text.
func (f *foreseen) covers(stage plan.StageName, a plan.Action) bool {
	phase := f.forecast.Phase(stage, plan.KindOf(a))
	if phase == nil {
		return false
	}
	switch a := a.(type) { //nolint:gochecksumtype // all others are covered by their process groups
	case plan.Configure:
		return slices.Contains(phase.Commands, a.Command)
	case plan.AddGroups:
		return f.mayAdd(phase, a)
	case plan.DeleteGroupObjects:
		if a.Undrained { // what made it so was not in the forecast, or needs a prompt of its own
			return false
		}
	}
	groups := plan.GroupsOf(a)
	if len(groups) == 0 {
		return len(phase.Groups) == 0
	}
	return !slices.ContainsFunc(groups, func(id v1beta2.ProcessGroupID) bool {
		_, isNew := f.added[id]
		if isNew && len(phase.New) > 0 {
			return false
		}
		return !slices.Contains(phase.Groups, id)
	})
}

// mayAdd reports whether no class gets more process groups than the forecast has.
func (f *foreseen) mayAdd(phase *planned.ForecastPhase, a plan.AddGroups) bool {
	count := map[v1beta2.ProcessClass]int{}
	for _, class := range f.added {
		count[class]++
	}
	for _, g := range a.Groups {
		if _, counted := f.added[g.ID]; !counted {
			count[g.Class]++
		}
	}
	for class, n := range count {
		if n > phase.Classes[class] {
			return false
		}
	}
	return true
}

// carried notes the process groups that an approved action has created.
func (f *foreseen) carried(a plan.Action) {
	added, ok := a.(plan.AddGroups)
	if !ok {
		return
	}
	if f.added == nil {
		f.added = map[v1beta2.ProcessGroupID]v1beta2.ProcessClass{}
	}
	for _, g := range added.Groups {
		f.added[g.ID] = g.Class
	}
}
