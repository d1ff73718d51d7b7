// Package frame holds everything that the dashboard shows of a cluster at one time, as one document.
package frame

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
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

// Input are the facts of a frame.
type Input struct {
	// Facts are of one snapshot. A nil Cluster is an unknown one.
	inspect.Facts
	// Unknown is why the cluster is unknown.
	Unknown string
	// Events are all of the namespace.
	Events []corev1.Event
	// Finished are the runs that Events record.
	Finished []FinishedRun
	// Plan and Why are of the last preview; nil before there was one.
	Plan *planned.PlanView
	Why  *why.Report
	// Backups are as of their last read; nil before the first.
	Backups *inspect.ClusterBackupsView
	// Sources are what the facts were read from.
	Sources []Source
	// EarlierLoad is the load in an earlier frame; nil without one.
	EarlierLoad *workload.View
	// Commands are those of the causes of a slow database.
	Commands inspect.Commands
	// History is the progress of excluded processes in earlier frames.
	History *inspect.DrainHistory
	// Reports are what process groups reported last in earlier frames; nil to keep none.
	Reports *inspect.ReportHistory
}

// NewFrame makes the document.
func NewFrame(m inspect.Metadata, in Input) Frame {
	f := in.Facts
	unknown := f.Cluster == nil
	if unknown {
		f.Cluster = unknownCluster(m)
		f.Database.NotQueried = in.Unknown
	}
	v := Frame{
		Document:     inspect.NewDocument("Frame", m, f.Now, inspect.SourceLive),
		UID:          string(f.Cluster.UID),
		Status:       inspect.NewStatusView(m, f),
		Groups:       inspect.NewGroupListView(m, f),
		Nodes:        inspect.NewNodeListView(m, f),
		Exclusions:   inspect.NewExclusionStatusView(m, f, inspect.ExclusionQuestion{Others: true}, in.History),
		Coordinators: inspect.NewCoordinatorListView(m, f),
		Locks:        inspect.NewLockListView(m, f),
		Events:       inspect.NewEventListView(m, f.Cluster, in.Events, inspect.EventFilter{}, f.Now),
		Operation:    f.Operation(in.History),
		Finished:     in.Finished,
		Backups:      in.Backups,
		Plan:         withoutSecrets(in.Plan),
		Why:          in.Why,
		Sources:      inspect.OrEmpty(in.Sources),
	}
	in.Reports.Recall(&v.Groups, f.Database.AsOf)
	for i := range v.Events.Items { // of passes that set a connection string
		v.Events.Items[i].Message = redact.Kept(v.Events.Items[i].Message)
	}
	if f.Database.Status != nil && in.Commands.FDB != nil {
		load := workload.NewView(m, workload.Input{Facts: f, Earlier: in.EarlierLoad, Commands: in.Commands})
		v.Workload = &load
	}
	v.Warnings = append(v.Warnings, f.Warnings...)
	if unknown {
		v.Status.State, v.Status.Summary, v.Status.Reasons = inspect.StateUnknown, "Unknown: "+in.Unknown, []string{in.Unknown}
	}
	return v
}

// unknownCluster returns a resource of which only the name is known.
func unknownCluster(m inspect.Metadata) *v1beta2.FoundationDBCluster {
	c := &v1beta2.FoundationDBCluster{}
	c.Name, c.Namespace = m.Cluster, m.Namespace
	return c
}

// withoutSecrets leaves out of a plan what the dashboard does not need and a file must not
// contain: the connection string grants access to the database.
func withoutSecrets(v *planned.PlanView) *planned.PlanView {
	if v == nil {
		return nil
	}
	plan := *v
	plan.Observed.ConnectionString = ""
	plan.Items = slices.Clone(v.Items)
	for i := range plan.Items {
		plan.Items[i].ActionRecord = plan.Items[i].WithoutSecrets()
	}
	return &plan
}

// Source returns the source of a name; nil where the frame has none.
func (f Frame) Source(name string) *Source {
	i := slices.IndexFunc(f.Sources, func(s Source) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Sources[i]
}

// The names of sources.
const (
	SourceOfKubernetes = "kubernetes"
	SourceOfDatabase   = "database"
	SourceOfEvents     = "events"
	SourceOfPreview    = "preview"
	SourceOfBackups    = "backups"
)

// NewSource makes a source. Zero times are unknown ones.
func NewSource(name string, asOf, queriedAt time.Time, problem string) Source {
	return Source{Name: name, AsOf: inspect.Known(asOf), RequestedAt: inspect.Known(queriedAt), Problem: problem}
}

// LineWords returns a line of a pass in words if it is worth printing: what was done, and
// what a stage waits for. It is empty for all other lines.
func LineWords(raw json.RawMessage) string {
	var l struct {
		Event, Kind, Stage, Outcome, Reason, Error string
		Action                                     struct{ Summary string }
	}
	if json.Unmarshal(raw, &l) != nil {
		return ""
	}
	switch {
	case l.Event == "acted" && l.Error != "":
		return fmt.Sprintf("%s: failed to %s: %s", l.Stage, l.Action.Summary, l.Error)
	case l.Event == "acted":
		return fmt.Sprintf("%s: did %s", l.Stage, l.Action.Summary)
	case l.Event == "stage" && l.Reason != "":
		return fmt.Sprintf("%s: %s: %s", l.Stage, l.Outcome, l.Reason)
	case l.Event == "pass":
		return "the pass ended: " + l.Outcome
	case l.Kind == "ReconcileResult" || l.Kind == "ChangeResult":
		return phrase.Or(l.Reason, "the run ended: "+l.Outcome)
	default:
		return ""
	}
}
