package readings

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Has reports whether a decision has an action of type A.
func Has[A plan.Action](d plan.Decision) bool {
	return slices.ContainsFunc(d.Actions, func(a plan.Action) bool { _, is := a.(A); return is })
}

// Narrowed returns a decision whose actions of type A do only what narrow leaves of them; those of which it
// leaves nothing are dropped. Without an action the decision has no reason for one.
func Narrowed[A plan.Action](d plan.Decision, narrow func(A) (left A, some bool)) plan.Decision {
	var actions []plan.Action
	for _, action := range d.Actions {
		if a, is := action.(A); is {
			left, some := narrow(a)
			if !some {
				continue
			}
			action = left
		}
		actions = append(actions, action)
	}
	if d.Actions = actions; len(actions) == 0 {
		d.Why = ""
	}
	return d
}
