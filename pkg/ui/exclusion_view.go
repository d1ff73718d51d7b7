package ui

// ExclusionStatusView is the document of `exclusion status`: how far exclusions are.
type ExclusionStatusView struct {
	Document
	// Safe is whether all that is listed is proven to be drained; null when nobody can
	// tell.
	Safe *bool `json:"safe"`
	// Summary is one sentence that says it all.
	Summary string      `json:"summary"`
	Items   []DrainView `json:"items"`
	// Data is what data distribution says of the whole database.
	Data DrainData `json:"data"`
	// Others counts exclusions of nobody's process groups here that are not listed; null
	// when exclusions could not be read.
	Others *int `json:"others"`
}

// DrainView is one process that leaves, or a process group of which none reports.
type DrainView struct {
	// ID is the process group; empty for an exclusion of nobody's.
	ID string `json:"id,omitempty"`
	// Process is the address; of a group that is silent, where it was last seen.
	Process string `json:"process,omitempty"`
	// Roles are null when the database does not tell.
	Roles []string  `json:"roles"`
	State Exclusion `json:"state"`
	// Reason is why it is not safe; empty when it is.
	Reason string `json:"reason,omitempty"`
	// LeftBytes is what storage roles still hold; null for processes without.
	LeftBytes *int64 `json:"leftBytes"`
	// MovedBytes is what left since the command looked first; null before its second look.
	MovedBytes *int64 `json:"movedBytes"`
	// RateBytesPerSecond is smoothed over the last looks; null before the third.
	RateBytesPerSecond *float64 `json:"rateBytesPerSecond"`
	// ETASeconds is null without an end in sight; so are the ends of its range.
	ETASeconds        *float64 `json:"etaSeconds"`
	ETASecondsSoonest *float64 `json:"etaSecondsSoonest"`
	ETASecondsLatest  *float64 `json:"etaSecondsLatest"`
	// StalledSeconds is for how long nothing left; null unless it is stalled.
	StalledSeconds *float64 `json:"stalledSeconds"`
}

// DrainData is what data distribution says of the whole database.
type DrainData struct {
	Origin
	InFlightBytes *int64 `json:"inFlightBytes"`
	QueuedBytes   *int64 `json:"queuedBytes"`
	// MinReplicas is the fewest copies that any data has, by region; null when unknown.
	MinReplicas     []RegionReplicas `json:"minReplicas" schema:"nullable"`
	ReplicasDesired int              `json:"replicasDesired"`
	// LeastSpaceStorageBytes is the free space of the fullest storage server.
	LeastSpaceStorageBytes *int64 `json:"leastSpaceStorageBytes"`
	// LeastSpaceLogBytes is the free space of the fullest log server.
	LeastSpaceLogBytes *int64 `json:"leastSpaceLogBytes"`
}

// RegionReplicas is the fewest copies that any data has in a region.
type RegionReplicas struct {
	Primary bool `json:"primary"`
	// Remaining is null when the region does not tell.
	Remaining *int `json:"remaining"`
}
