package why

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// housekeepingOf returns what the plan leaves to a later pass about a group; nil for nothing.
func (w *why) housekeepingOf(g *v1beta2.ProcessGroupStatus) *inspect.HousekeepingRecord {
	all := w.Plan.Pass.Housekeeping
	at := slices.IndexFunc(all, func(h inspect.HousekeepingRecord) bool { return slices.Contains(h.Groups, g.ProcessGroupID) })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// onlyTidied reports whether a removed group only waits for its exclusion to end, which blocks
// nothing.
func (w *why) onlyTidied(g *v1beta2.ProcessGroupStatus) bool { return w.housekeepingOf(g) != nil }

// tidied returns the chain of such a group, for a report about it alone.
func (w *why) tidied(g *v1beta2.ProcessGroupStatus) Chain {
	h := w.housekeepingOf(g)
	l := Link{Stage: plan.StageRemovePods, Message: "its exclusion ends later: " + h.Text()}
	for _, c := range h.Requires {
		l.Reasons = append(l.Reasons, w.refused(c, nil))
	}
	return Chain{
		Subjects: []string{string(g.ProcessGroupID)}, Since: inspect.Known(g.RemovalTimestamp.Time), State: Waiting, rank: rankWaiting,
		Summary: "is being removed", Reasons: []Link{l}, RetryAfterSeconds: h.RetryAfterSeconds,
		Next: []string{w.FDB("reconcile", w.name, "--wait=all")},
	}
}
