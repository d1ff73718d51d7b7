package logs

import (
	"slices"
	"time"
)

// Filter selects entries of one log. Its zero value selects none: Tail is 0.
type Filter struct {
	// Since is when the first entries were written; the zero time is no limit.
	Since time.Time
	// Severity is the least severity of trace events. Lines without a severity are selected.
	Severity int
	// Tail is how many entries are selected at most, the last ones; negative is no limit.
	Tail int
}

// Of returns the selected entries of a log, which are in the order of the log.
func (f Filter) Of(entries []Entry) []Entry {
	var kept []Entry
	times := stamps(entries)
	for i, e := range entries {
		before := !f.Since.IsZero() && !times[i].IsZero() && times[i].Before(f.Since)
		if !before && (e.Severity == nil || *e.Severity >= f.Severity) {
			kept = append(kept, e)
		}
	}
	if f.Tail >= 0 && len(kept) > f.Tail {
		kept = kept[len(kept)-f.Tail:]
	}
	return kept
}

// stamps returns a time for each entry of a log. An entry without one, such as a line of a stack
// trace, belongs to the entry before it.
func stamps(entries []Entry) []time.Time {
	times := make([]time.Time, len(entries))
	var last time.Time
	for i, e := range entries {
		if e.Time != nil {
			last = *e.Time
		}
		times[i] = last
	}
	return times
}

// Merge returns the entries of several logs by time. Entries of the same log that were written at the
// same time, and those without a time, stay in the order of the log.
func Merge(all ...[]Entry) []Entry {
	type stamped struct {
		at time.Time
		e  Entry
	}
	var sorted []stamped
	for _, entries := range all {
		for i, at := range stamps(entries) {
			sorted = append(sorted, stamped{at, entries[i]})
		}
	}
	slices.SortStableFunc(sorted, func(a, b stamped) int { return a.at.Compare(b.at) })
	merged := make([]Entry, len(sorted))
	for i, s := range sorted {
		merged[i] = s.e
	}
	return merged
}
