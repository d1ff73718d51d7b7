package inspect

import (
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// ExclusionStatusView is the document of `exclusion status`: the progress of exclusions.
type ExclusionStatusView struct {
	Document
	// Safe is whether all that is listed is proven to be drained; null when unknown.
	Safe *bool `json:"safe"`
	// Summary is the state in one sentence.
	Summary string      `json:"summary"`
	Items   []DrainView `json:"items"`
	// Data is the state of data distribution in the whole database.
	Data DrainData `json:"data"`
	// Others counts exclusions that are not listed, since they cover no process group of the
	// resource; null when exclusions could not be read.
	Others *int `json:"others"`
}

// DrainView is one excluded process, or a process group of which none reports.
type DrainView struct {
	// ID is the process group; empty for an exclusion that covers none.
	ID string `json:"id,omitempty"`
	// Process is the address; of a group that does not report, the last known one.
	Process string `json:"process,omitempty"`
	// Roles are null when the database does not report them.
	Roles []string  `json:"roles"`
	State Exclusion `json:"state"`
	// Reason is why it is not safe; empty when it is.
	Reason string `json:"reason,omitempty"`
	// LeftBytes is what storage roles still hold; null for processes without.
	LeftBytes *int64 `json:"leftBytes"`
	// MovedBytes is what was moved since the first sample; null before the second.
	MovedBytes *int64 `json:"movedBytes"`
	// RateBytesPerSecond is smoothed over the last samples; null before the third.
	RateBytesPerSecond *float64 `json:"rateBytesPerSecond"`
	// ETASeconds is null while no end can be estimated; so are the ends of its range.
	ETASeconds        *float64 `json:"etaSeconds"`
	ETASecondsSoonest *float64 `json:"etaSecondsSoonest"`
	ETASecondsLatest  *float64 `json:"etaSecondsLatest"`
	// StalledSeconds is for how long nothing was moved; null unless it is stalled.
	StalledSeconds *float64 `json:"stalledSeconds"`
}

// DrainData is the state of data distribution in the whole database.
type DrainData struct {
	Origin
	InFlightBytes *int64 `json:"inFlightBytes"`
	QueuedBytes   *int64 `json:"queuedBytes"`
	// MinReplicas is the fewest copies that any data has, by region; null when unknown.
	MinReplicas     []RegionReplicas `json:"minReplicas" schema:"nullable"`
	ReplicasDesired int              `json:"replicasDesired"`
	// LeastSpaceStorageBytes is the free space of the fullest storage process.
	LeastSpaceStorageBytes *int64 `json:"leastSpaceStorageBytes"`
	// LeastSpaceLogBytes is the free space of the fullest log process.
	LeastSpaceLogBytes *int64 `json:"leastSpaceLogBytes"`
}

// RegionReplicas is the fewest copies that any data has in a region.
type RegionReplicas struct {
	Primary bool `json:"primary"`
	// Remaining is null when the region does not report it.
	Remaining *int `json:"remaining"`
}

func (v DrainView) Name() string { return phrase.Or(v.ID, v.Process) + ofProcess(v) }

// ofProcess distinguishes the processes of one group.
func ofProcess(v DrainView) string {
	if v.ID == "" || v.Process == "" {
		return ""
	}
	return " at " + v.Process
}
