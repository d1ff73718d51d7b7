package plan

// Evicting returns the same stage with all pods deleted by the eviction API, which respects
// disruption budgets: a budget that allows none makes the stage wait.
func Evicting(stage Stage) Stage {
	decide := stage.Decide
	stage.Decide = func(s Snapshot) Decision {
		d := decide(s)
		actions := make([]Action, len(d.Actions))
		for i, a := range d.Actions {
			actions[i] = a
			if e, is := a.(evictable); is {
				actions[i] = e.byEviction()
			}
		}
		d.Actions = actions
		return d
	}
	return stage
}

// evictable is an action that deletes pods, and can do so by the eviction API.
type evictable interface{ byEviction() Action }

func (a DeletePods) byEviction() Action {
	a.Evict = true
	return a
}

func (a DeleteGroupObjects) byEviction() Action {
	a.Evict = a.Pod != ""
	return a
}

func (a EvictAgent) byEviction() Action {
	a.Evict = true
	return a
}
