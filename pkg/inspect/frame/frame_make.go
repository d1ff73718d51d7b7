package frame

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

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
