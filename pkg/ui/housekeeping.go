package ui

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// HousekeepingRecord is what a later pass completes, as documents show it: the process groups
// are removed, and their exclusions end once the database has been stable for long enough.
type HousekeepingRecord struct {
	plan.Housekeeping
	// RetryAfterSeconds is how long that takes at least; null when unknown.
	RetryAfterSeconds *float64 `json:"retryAfterSeconds"`
	// Due is when that is over; null when unknown.
	Due *time.Time `json:"due"`
}

func recordHousekeeping(h *plan.Housekeeping) *HousekeepingRecord {
	if h == nil {
		return nil
	}
	shown := *h
	shown.Groups, shown.Exclusions, shown.Requires = orEmpty(h.Groups), orEmpty(h.Exclusions), orEmpty(h.Requires)
	return &HousekeepingRecord{Housekeeping: shown, RetryAfterSeconds: inSeconds(h.RetryAfter), Due: known(h.Due)}
}

func recordAllHousekeeping(all []plan.Housekeeping) []HousekeepingRecord {
	records := make([]HousekeepingRecord, len(all))
	for i := range all {
		records[i] = *recordHousekeeping(&all[i])
	}
	return records
}

// Removed marks targets as reached whose removal is complete except for housekeeping.
func Removed(targets []Target, reached bool, left []plan.Housekeeping) ([]Target, bool) {
	taken := false
	targets = slices.Clone(targets)
	for i, t := range targets {
		if t.Phase == phaseDeleted && isLeft(left, v1beta2.ProcessGroupID(t.ID)) {
			targets[i].Reached, targets[i].Note, taken = true, "a later pass ends its exclusion", true
		}
	}
	return targets, reached || (taken && AllReached(targets))
}

func isLeft(left []plan.Housekeeping, id v1beta2.ProcessGroupID) bool {
	return slices.ContainsFunc(left, func(h plan.Housekeeping) bool { return slices.Contains(h.Groups, id) })
}
