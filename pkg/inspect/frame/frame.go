package frame

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
)

// Frame is all facts about one cluster at one moment, for the dashboard: the documents that
// the other commands print, made of one snapshot.
type Frame struct {
	inspect.Document
	// UID is that of the cluster; absent while it is unknown, and in a recording of an older release.
	UID          string                      `json:"uid,omitempty"`
	Status       inspect.StatusView          `json:"status"`
	Groups       inspect.GroupListView       `json:"groups"`
	Nodes        inspect.NodeListView        `json:"nodes"`
	Exclusions   inspect.ExclusionStatusView `json:"exclusions"`
	Coordinators inspect.CoordinatorListView `json:"coordinators"`
	Locks        inspect.LockListView        `json:"locks"`
	Events       inspect.EventListView       `json:"events"`
	// Operation is the running operation with what was observed of it, or the replacement of process groups that no run has
	// reported; absent without either.
	Operation *inspect.OperationView `json:"operation,omitempty"`
	// Finished are the runs of all users that have ended, the newest first, as far as Events of the cluster record them.
	Finished []FinishedRun `json:"finished,omitempty"`
	// Backups are as of their last read; absent before the first.
	Backups *inspect.ClusterBackupsView `json:"backups,omitempty"`
	// Workload is the load of the database; absent without a status document.
	Workload *workload.View `json:"workload,omitempty"`
	// Plan is what the next pass would do, and Why what blocks it. They require a preview of
	// a pass; null before the first.
	Plan *planned.PlanView `json:"plan"`
	Why  *why.Report       `json:"why"`
	// Sources are where the facts were read from, and with what result.
	Sources []Source `json:"sources"`
}

// FinishedRun is a run that has ended, without its steps.
type FinishedRun struct {
	// ID is the ID of the run.
	ID string `json:"id"`
	inspect.Run
}

// IsOfAnother reports whether a frame is of another cluster of the same name than one with this UID. An unknown UID is no proof.
func (f Frame) IsOfAnother(uid string) bool { return uid != "" && f.UID != "" && f.UID != uid }

// AnotherCluster begins what is known of another cluster of the same name.
const AnotherCluster = "another cluster of the same name from here"

// Source is one source of facts.
type Source struct {
	// Name is kubernetes, database, events, preview or backups.
	Name string `json:"name"`
	// AsOf is when it last answered; null when it never did.
	AsOf *time.Time `json:"asOf"`
	// RequestedAt is the start of the request that is in progress; null when none is.
	RequestedAt *time.Time `json:"requestedAt"`
	// Problem is why the last request failed; empty when it did not.
	Problem string `json:"problem,omitempty"`
}
