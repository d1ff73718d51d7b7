package plan

// Evicting returns the same stage with all pods deleted by the eviction API, which respects
// disruption budgets: a budget that allows none makes the stage wait.
func Evicting(stage Stage) Stage {
	decide := stage.Decide
	stage.Decide = func(s Snapshot) Decision {
		d := decide(s)
		actions := make([]Action, len(d.Actions))
		for i, a := range d.Actions {
			actions[i] = evicting(a)
		}
		d.Actions = actions
		return d
	}
	return stage
}

// evicting returns the action with its pods deleted by the eviction API.
func evicting(a Action) Action {
	switch a := a.(type) { //nolint:gochecksumtype // no other deletes running pods
	case DeletePods:
		a.Evict = true
		return a
	case DeleteGroupObjects:
		a.Evict = a.Pod != ""
		return a
	case EvictAgent:
		a.Evict = true
		return a
	default:
		return a
	}
}
