package ui

import (
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// FrameInput are the facts of a frame.
type FrameInput struct {
	// Facts are of one snapshot. A nil Cluster is an unknown one.
	Facts
	// Unknown is why the cluster is unknown.
	Unknown string
	// Events are all of the namespace.
	Events []corev1.Event
	// Plan and Why are of the last preview; nil before there was one.
	Plan *PlanView
	Why  *WhyReport
	// Backups are as of their last read; nil before the first.
	Backups *ClusterBackupsView
	// Sources are what the facts were read from.
	Sources []FrameSource
	// History is the progress of excluded processes in earlier frames.
	History *DrainHistory
}

// NewFrame makes the document.
func NewFrame(m Metadata, in FrameInput) Frame {
	f := in.Facts
	unknown := f.Cluster == nil
	if unknown {
		f.Cluster = unknownCluster(m)
		f.Database.NotAsked = in.Unknown
	}
	v := Frame{
		Document:     NewDocument("Frame", m, f.Now, SourceLive),
		Status:       NewStatusView(m, f),
		Groups:       NewGroupListView(m, f),
		Nodes:        NewNodeListView(m, f, false),
		Exclusions:   NewExclusionStatusView(m, f, ExclusionQuestion{Others: true}, in.History),
		Coordinators: NewCoordinatorListView(m, f),
		Locks:        NewLockListView(m, f),
		Events:       NewEventListView(m, f.Cluster, in.Events, EventFilter{}, f.Now),
		Backups:      in.Backups,
		Plan:         withoutSecrets(in.Plan),
		Why:          in.Why,
		Sources:      orEmpty(in.Sources),
	}
	for i := range v.Events.Items { // of passes that set a connection string
		v.Events.Items[i].Message = HideSecrets(v.Events.Items[i].Message)
	}
	v.Warnings = append(v.Warnings, f.Warnings...)
	if unknown {
		v.Status.State, v.Status.Summary, v.Status.Reasons = StateUnknown, "Unknown: "+in.Unknown, []string{in.Unknown}
	}
	return v
}

// unknownCluster returns a resource of which only the name is known.
func unknownCluster(m Metadata) *v1beta2.FoundationDBCluster {
	c := &v1beta2.FoundationDBCluster{}
	c.Name, c.Namespace = m.Cluster, m.Namespace
	return c
}

// withoutSecrets leaves out of a plan what the dashboard does not need and a file must not
// contain: the connection string grants access to the database.
func withoutSecrets(v *PlanView) *PlanView {
	if v == nil {
		return nil
	}
	plan := *v
	plan.Observed.ConnectionString = ""
	plan.Items = slices.Clone(v.Items)
	for i := range plan.Items {
		plan.Items[i].ActionRecord = plan.Items[i].withoutSecrets()
	}
	return &plan
}

// withoutSecrets leaves out an action's own fields, and hides secrets in its summary.
func (r ActionRecord) withoutSecrets() ActionRecord {
	r.Details, r.Summary = nil, HideSecrets(r.Summary)
	return r
}

// connectionSecret matches the secret part of a connection string: DESCRIPTION:ID@ADDRESS.
var connectionSecret = regexp.MustCompile(`\b([A-Za-z0-9_]+):[A-Za-z0-9]+@`)

// HideSecrets hides the secret part of connection strings in a text.
func HideSecrets(text string) string {
	if !strings.Contains(text, "@") { // most have none, and the dashboard reads all events every 2 s
		return text
	}
	return connectionSecret.ReplaceAllString(text, "$1:***@")
}

// Source returns the source of a name; nil where the frame has none.
func (f Frame) Source(name string) *FrameSource {
	i := slices.IndexFunc(f.Sources, func(s FrameSource) bool { return s.Name == name })
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

// NewFrameSource makes a source. Zero times are unknown ones.
func NewFrameSource(name string, asOf, askedAt time.Time, trouble string) FrameSource {
	return FrameSource{Name: name, AsOf: known(asOf), RequestedAt: known(askedAt), Trouble: trouble}
}
