package inspect

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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
	slices.SortStableFunc(v.Items, func(a, b EventView) int {
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
