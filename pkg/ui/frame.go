package ui

import "time"

// Frame is all facts about one cluster at one moment, for the dashboard: the documents that
// the other commands print, made of one snapshot.
type Frame struct {
	Document
	Status       StatusView          `json:"status"`
	Groups       GroupListView       `json:"groups"`
	Nodes        NodeListView        `json:"nodes"`
	Exclusions   ExclusionStatusView `json:"exclusions"`
	Coordinators CoordinatorListView `json:"coordinators"`
	Locks        LockListView        `json:"locks"`
	Events       EventListView       `json:"events"`
	// Backups are as of their last read; absent before the first.
	Backups *ClusterBackupsView `json:"backups,omitempty"`
	// Plan is what the next pass would do, and Why what blocks it. They require a preview of
	// a pass; null before the first.
	Plan *PlanView  `json:"plan"`
	Why  *WhyReport `json:"why"`
	// Sources are where the facts were read from, and with what result.
	Sources []FrameSource `json:"sources"`
}

// FrameSource is one source of facts.
type FrameSource struct {
	// Name is kubernetes, database, events, preview or backups.
	Name string `json:"name"`
	// AsOf is when it last answered; null when it never did.
	AsOf *time.Time `json:"asOf"`
	// RequestedAt is the start of the request that is in progress; null when none is.
	RequestedAt *time.Time `json:"requestedAt"`
	// Trouble is why the last request failed; empty when it did not.
	Trouble string `json:"trouble,omitempty"`
}
