package operations

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// unlessKept returns what decides about those of the groups that the spec does not keep, and
// reports the others, whatever else holds: no command marks or excludes them.
func unlessKept(groups []v1beta2.ProcessGroupID, decide func(plan.Snapshot, []v1beta2.ProcessGroupID) plan.Decision) func(plan.Snapshot) plan.Decision {
	return func(s plan.Snapshot) plan.Decision {
		var due, kept []v1beta2.ProcessGroupID
		for _, id := range groups {
			switch {
			case s.Cluster.ProcessGroup(id) == nil:
			case s.Cluster.KeepsFromReplacement(id):
				kept = append(kept, id)
			default:
				due = append(due, id)
			}
		}
		d := decide(s, due)
		d.Hold = keptHold(d.Hold, kept)
		return d
	}
}

// keptHold adds to a hold that the spec keeps some of the requested groups. That comes first, since
// it needs a user.
func keptHold(h *plan.Hold, kept []v1beta2.ProcessGroupID) *plan.Hold {
	if len(kept) == 0 {
		return h
	}
	all := &plan.Hold{
		Code: plan.HoldKeptBySpec, Manual: true, Subjects: phrase.Strings(kept),
		Reason: fmt.Sprintf("%s keeps %s: remove %s from the list first", readings.KeepField, readings.SomeOf(kept), phrase.Either(len(kept), "it", "them")),
	}
	if h != nil {
		all.Reason += "; " + h.Text()
		all.Subjects = slices.Concat(all.Subjects, h.Subjects)
		all.RetryAfter, all.Then = h.RetryAfter, h.Then
	}
	return all
}
