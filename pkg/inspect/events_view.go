package inspect

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// EventListView is the document of `events`: what happened, the oldest first.
type EventListView struct {
	Document
	Items []EventView `json:"items"`
}

// EventView is one Kubernetes event, and its repetitions.
type EventView struct {
	// Time is when it was seen last, First when it was seen first.
	Time  time.Time `json:"time"`
	First time.Time `json:"first"`
	// Type is Normal or Warning.
	Type   string `json:"type"`
	Reason string `json:"reason"`
	// Object is its object: "pod/sample-storage-1".
	Object string `json:"object"`
	// ProcessGroup is the one that the object belongs to; absent when it belongs to none in
	// the status.
	ProcessGroup string `json:"processGroup,omitempty"`
	// Count is how often it was seen.
	Count   int    `json:"count"`
	Message string `json:"message"`
	// From is the component that reported it.
	From string `json:"from,omitempty"`

	uid string
	// did is the message of an event of this program without what by has: its command, user and run.
	did, by string
}

// EventFilter selects events; zero fields select all.
type EventFilter struct {
	// Since leaves out what was seen last before.
	Since time.Time
	// Types are those to show.
	Types []string
}

// NewEventListView selects the events of a cluster and its objects, including deleted ones: an
// event outlives its object.
func NewEventListView(m Metadata, c *v1beta2.FoundationDBCluster, events []corev1.Event, f EventFilter, now time.Time) EventListView {
	v := EventListView{Document: NewDocument("EventList", m, now, SourceLive), Items: []EventView{}}
	mine, groups := objectsOf(c), groupsByPod(c)
	for i := range events {
		e := viewEvent(&events[i])
		pod, isMine := mine(events[i].InvolvedObject)
		if !isMine || ofAnother(c, &events[i], e.Time) || e.Time.Before(f.Since) || (len(f.Types) > 0 && !slices.Contains(f.Types, e.Type)) {
			continue
		}
		e.ProcessGroup = groups[pod]
		v.Items = append(v.Items, e)
	}
	stable.Sort(v.Items, func(a, b EventView) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason))
	})
	return v
}

// ofAnother reports whether an event is about another cluster of the same name, which was deleted before this one was created: by the
// UID of the resource, and for its objects, whose UIDs are unknown once they are deleted, by its age.
func ofAnother(c *v1beta2.FoundationDBCluster, e *corev1.Event, at time.Time) bool {
	if uid := e.InvolvedObject.UID; e.InvolvedObject.Kind == "FoundationDBCluster" && uid != "" {
		return uid != c.UID
	}
	return at.Before(c.CreationTimestamp.Time)
}

// EventsAbout returns the events of a cluster and its objects, without those of another cluster of the same name.
func EventsAbout(c *v1beta2.FoundationDBCluster, events []corev1.Event) []corev1.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e corev1.Event) bool { return ofAnother(c, &e, viewEvent(&e).Time) })
}

// objectsOf returns a function that reports whether an object is the cluster's, and the name of
// the pod that its own name begins with. It compares names: deleted objects have no labels.
func objectsOf(c *v1beta2.FoundationDBCluster) func(corev1.ObjectReference) (pod string, is bool) {
	var classes []string
	for _, class := range v1beta2.ProcessClasses() {
		classes = append(classes, regexp.QuoteMeta(class.ForNames()))
	}
	named := regexp.MustCompile(`^(` + regexp.QuoteMeta(c.Name) + `-(?:` + strings.Join(classes, "|") + `)-\d+)(-.+)?$`)
	return func(o corev1.ObjectReference) (string, bool) {
		parts := named.FindStringSubmatch(o.Name)
		switch o.Kind {
		case "FoundationDBCluster":
			return "", o.Name == c.Name
		case "Service":
			if o.Name == c.HeadlessServiceName() {
				return "", true
			}
			fallthrough
		case "Pod":
			if parts != nil && parts[2] == "" {
				return parts[1], true
			}
		case "PersistentVolumeClaim":
			if parts != nil {
				return parts[1], true
			}
		}
		return "", false
	}
}

func groupsByPod(c *v1beta2.FoundationDBCluster) map[string]string {
	groups := map[string]string{}
	for _, g := range c.Status.ProcessGroups {
		groups[g.PodName(c)] = string(g.ProcessGroupID)
	}
	return groups
}

// viewEvent reads the fields of old and new reporters alike.
func viewEvent(e *corev1.Event) EventView {
	v := EventView{
		Time: e.LastTimestamp.Time, First: e.FirstTimestamp.Time, Count: max(1, int(e.Count)),
		Type: e.Type, Reason: e.Reason, Message: OneLine(e.Message), uid: string(e.UID),
		Object: strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name,
		From:   phrase.Or(e.Source.Component, e.ReportingController),
	}
	if r, ours := EventRecordOf(e); ours && r.Words != "" {
		v.did, v.by = OneLine(r.Words), r.by(e.ReportingInstance)
	}
	if v.Time.IsZero() {
		v.Time = e.EventTime.Time
	}
	if e.Series != nil {
		v.Time, v.Count = e.Series.LastObservedTime.Time, int(e.Series.Count)
	}
	if v.Time.IsZero() {
		v.Time = e.CreationTimestamp.Time
	}
	if v.First.IsZero() {
		v.First = cmp.Or(e.EventTime.Time, v.Time)
	}
	v.Time, v.First = v.Time.UTC(), v.First.UTC()
	return v
}

// Fresh returns the events that were not shown yet, or were repeated since, and adds them to
// shown.
func (v EventListView) Fresh(shown map[string]int) EventListView {
	fresh := []EventView{}
	for _, e := range v.Items {
		if shown[e.uid] < e.Count {
			shown[e.uid] = e.Count
			fresh = append(fresh, e)
		}
	}
	v.Items = fresh
	return v
}

// List returns the events with their columns.
func (v EventListView) List() list.Table { return list.Of(EventColumns, v.Items) }

// EventColumns are the columns of events.
var EventColumns = []list.Column[EventView]{
	{Title: "SEEN", Meaning: "Age of the last occurrence", Typical: 6, Right: true, Cell: func(at list.At, e EventView) list.Cell { return list.Text(at.Age(&e.Time)) }, Number: func(at list.At, e EventView) *float64 { return at.Seconds(&e.Time) }},
	{Title: "TYPE", Meaning: "Normal or Warning", Typical: 7, Drop: 4, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(e.Type) }},
	{Title: "REASON", Meaning: "Reason that the component gives", Typical: 20, Min: 12, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(e.Reason).In(e.Tone()) }},
	{Title: "OBJECT", Meaning: "Kind and name of the object", Typical: 40, Drop: 2, Min: 16, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(e.Object) }},
	{Title: "COUNT", Meaning: "Number of occurrences", Typical: 5, Drop: 3, Right: true, Cell: func(_ list.At, e EventView) list.Cell { return list.Count(e.Count) }, Number: func(_ list.At, e EventView) *float64 { return list.Quantity(&e.Count) }},
	{Title: "MESSAGE", Meaning: "What happened", Below: true, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(phrase.Or(e.did, e.Message)) }},
	{Title: "FIRST", Meaning: "Age of the first occurrence", Typical: 6, Drop: 6, Right: true, Place: list.Wide, Cell: func(at list.At, e EventView) list.Cell { return list.Text(at.Age(&e.First)) }, Number: func(at list.At, e EventView) *float64 { return at.Seconds(&e.First) }},
	{Title: "FROM", Meaning: "Component that reported it", Typical: 20, Drop: 5, Place: list.Wide, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(e.From) }},
	{Title: "BY", Meaning: "Command, reason, user and run of an event of this program; - for others", Typical: 40, Min: 16, Drop: 7, Place: list.WideOptional, Cell: func(_ list.At, e EventView) list.Cell { return list.Text(e.by) }},
}

// Tone is how bad an event is.
func (v EventView) Tone() list.Tone {
	if v.Type == corev1.EventTypeWarning {
		return list.Warn
	}
	return list.Plain
}

// EventComponent is the source of the Events that this program writes.
const EventComponent = "kubectl-fdb"

// AnnotationRun is on every Event of this program: the facts of its message as JSON, see EventRecord.
const AnnotationRun = "kubectl-fdb/run"

// EventRecord is what an Event stores of the actions that it stands for.
type EventRecord struct {
	Who     string `json:"who"`
	Command string `json:"command"`
	// Typed is Command without the flags that select the API server, the user and the namespace; empty in Events of
	// earlier releases.
	Typed  string `json:"typed,omitempty"`
	Reason string `json:"reason,omitempty"`
	Plan   string `json:"plan,omitempty"`
	// Words are the message without command, user and run; empty in Events of earlier releases.
	Words string `json:"words,omitempty"`
	// Stage is the stage that decided on the actions.
	Stage plan.StageName `json:"stage"`
	// Subjects are some of what the actions changed; Actions counts them all.
	Subjects []string `json:"subjects"`
	Actions  int      `json:"actions"`
	// Error is why the first of them failed.
	Error string `json:"error,omitempty"`
}

// EventRecordOf returns the record in an Event of this program; false for others, and for those of
// releases that stored none.
func EventRecordOf(e *corev1.Event) (EventRecord, bool) {
	var r EventRecord
	text, has := e.Annotations[AnnotationRun]
	return r, has && e.ReportingController == EventComponent && json.Unmarshal([]byte(text), &r) == nil
}

// by returns the command, the reason, the user and the run of an Event.
func (r EventRecord) by(runID string) string {
	words := []string{r.Command, r.Who, "run " + runID}
	if r.Reason != "" {
		words = []string{r.Command, r.Reason, r.Who, "run " + runID}
	}
	return OneLine(strings.Join(words, "; "))
}

// TraceEventsSuppressedBy returns where a knob is set that suppresses what the status document is made from:
// fields of the spec, then process groups whose processes run with it. A document without
// these events has no command lines, so the monitors' configurations count, too.
func (f Facts) TraceEventsSuppressedBy() []string {
	var places []string
	for _, err := range f.Cluster.TraceSuppressingParameters() {
		places = append(places, err.Field)
	}
	for _, g := range f.Groups() {
		if f.runsWithoutTraceEvents(g) {
			places = append(places, "processgroup/"+string(g.ProcessGroupID))
		}
	}
	return places
}

func (f Facts) runsWithoutTraceEvents(g *v1beta2.ProcessGroupStatus) bool {
	if slices.ContainsFunc(f.ProcessesOf(g), func(p fdb.Process) bool {
		return slices.ContainsFunc(strings.Fields(p.CommandLine), v1beta2.SuppressesTraceEvents)
	}) {
		return true
	}
	m, err := fdb.ParseMonitorConfiguration([]byte(f.PodFiles[g.PodName(f.Cluster)].Configuration))
	if err != nil {
		return false // a pod without a monitor, or one that has not reported: its command line must suffice
	}
	return slices.ContainsFunc(m.Arguments, func(a fdb.Argument) bool { return v1beta2.SuppressesTraceEvents(a.Value) })
}

// LacksTraceEvents reports whether the status document lacks what a knob of trace events can suppress.
func (f Facts) LacksTraceEvents() bool {
	s := f.Database.Status
	return s != nil && s.LacksTraceEvents()
}
