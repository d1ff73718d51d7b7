package ui

import "time"

// Frame is everything that is known of one cluster at one moment, for a screen that
// shows it live: the documents that the other commands print, made of one look.
type Frame struct {
	Document
	Status       StatusView          `json:"status"`
	Groups       GroupListView       `json:"groups"`
	Nodes        NodeListView        `json:"nodes"`
	Exclusions   ExclusionStatusView `json:"exclusions"`
	Coordinators CoordinatorListView `json:"coordinators"`
	Locks        LockListView        `json:"locks"`
	Events       EventListView       `json:"events"`
	// Backups are as of the last look at them; absent before there was one.
	Backups *ClusterBackupsView `json:"backups,omitempty"`
	// Plan is what the next pass would do, and Why what is in the way. They take a
	// preview of a pass; null until there was one.
	Plan *PlanView  `json:"plan"`
	Why  *WhyReport `json:"why"`
	// Sources are what the facts were read from, and how that went.
	Sources []FrameSource `json:"sources"`
}

// FrameSource is one place that facts come from.
type FrameSource struct {
	// Name is what people call it: kubernetes, database, events, preview or backups.
	Name string `json:"name"`
	// AsOf is when it last answered; null when it never did.
	AsOf *time.Time `json:"asOf"`
	// RequestedAt is since when an answer is awaited; null when none is.
	RequestedAt *time.Time `json:"requestedAt"`
	// Trouble is why the last question has no answer; empty when it has one.
	Trouble string `json:"trouble,omitempty"`
}
