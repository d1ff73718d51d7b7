package inspect

import (
	"time"

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

// RecordHousekeeping returns what a later pass does as part of a document; nil for nil.
func RecordHousekeeping(h *plan.Housekeeping) *HousekeepingRecord {
	if h == nil {
		return nil
	}
	shown := *h
	shown.Groups, shown.Exclusions, shown.Requires = OrEmpty(h.Groups), OrEmpty(h.Exclusions), OrEmpty(h.Requires)
	return &HousekeepingRecord{Housekeeping: shown, RetryAfterSeconds: InSeconds(h.RetryAfter), Due: Known(h.Due)}
}

func recordAllHousekeeping(all []plan.Housekeeping) []HousekeepingRecord {
	records := make([]HousekeepingRecord, len(all))
	for i := range all {
		records[i] = *RecordHousekeeping(&all[i])
	}
	return records
}
