package ui

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// housekeepingOf returns what the plan leaves to a later pass about a group; nil for nothing.
func (w *why) housekeepingOf(g *v1beta2.ProcessGroupStatus) *HousekeepingRecord {
	all := w.Plan.Pass.Housekeeping
	at := slices.IndexFunc(all, func(h HousekeepingRecord) bool { return slices.Contains(h.Groups, g.ProcessGroupID) })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// onlyTidied reports whether a removed group only waits for its exclusion to end, which blocks
// nothing.
func (w *why) onlyTidied(g *v1beta2.ProcessGroupStatus) bool { return w.housekeepingOf(g) != nil }

// tidied returns the chain of such a group, for a report about it alone.
func (w *why) tidied(g *v1beta2.ProcessGroupStatus) WhyChain {
	h := w.housekeepingOf(g)
	l := WhyLink{Stage: plan.StageRemovePods, Message: "its exclusion ends later: " + h.Words()}
	for _, c := range h.Requires {
		l.Reasons = append(l.Reasons, w.refused(c, nil))
	}
	return WhyChain{
		Subjects: []string{string(g.ProcessGroupID)}, Since: known(g.RemovalTimestamp.Time), State: WhyWaiting, rank: rankWaiting,
		Summary: "is being removed", Reasons: []WhyLink{l}, RetryAfterSeconds: h.RetryAfterSeconds,
		Next: []string{w.FDB("reconcile", w.name, "--wait=all")},
	}
}
