package ui

import (
	"bytes"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func event(kind, name string, ago time.Duration, given ...func(*corev1.Event)) corev1.Event {
	e := corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: name, UID: types.UID(kind + name)},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name},
		Type:           corev1.EventTypeNormal, Reason: "Because", Message: "it\nhappened",
		FirstTimestamp: metav1.NewTime(noon.Add(-time.Hour)), LastTimestamp: metav1.NewTime(noon.Add(-ago)),
		Count: 2, Source: corev1.EventSource{Component: "kubelet"},
	}
	for _, change := range given {
		change(&e)
	}
	return e
}

func warning(e *corev1.Event) { e.Type = corev1.EventTypeWarning }

// modern is how reporters of events.k8s.io tell of an event.
func modern(e *corev1.Event) {
	e.EventTime = metav1.NewMicroTime(e.LastTimestamp.Time)
	e.FirstTimestamp, e.LastTimestamp, e.Count, e.Source = metav1.Time{}, metav1.Time{}, 0, corev1.EventSource{}
	e.ReportingController = "scheduler"
}

func TestEventsOfACluster(t *testing.T) {
	tests := map[string]struct {
		event  corev1.Event
		filter EventFilter
		shown  bool
	}{
		"its resource":                 {event: event("FoundationDBCluster", "sample", 0), shown: true},
		"another one":                  {event: event("FoundationDBCluster", "sample-2", 0)},
		"its pod":                      {event: event("Pod", "sample-storage-3", 0), shown: true},
		"a pod that is long gone":      {event: event("Pod", "sample-cluster-controller-77", 0), shown: true},
		"a pod of a longer name":       {event: event("Pod", "sample-2-storage-3", 0)},
		"a pod that only looks alike":  {event: event("Pod", "sample-storage-3-debug", 0)},
		"another pod":                  {event: event("Pod", "sample-web-1", 0)},
		"its claim":                    {event: event("PersistentVolumeClaim", "sample-storage-3-data", 0), shown: true},
		"another claim":                {event: event("PersistentVolumeClaim", "data-sample-storage-3", 0)},
		"its service":                  {event: event("Service", "sample", 0), shown: true},
		"the service of a group":       {event: event("Service", "sample-log-1", 0), shown: true},
		"another kind":                 {event: event("Deployment", "sample", 0)},
		"recent enough":                {event: event("Pod", "sample-log-1", time.Minute), filter: EventFilter{Since: noon.Add(-time.Minute)}, shown: true},
		"too old":                      {event: event("Pod", "sample-log-1", 2*time.Minute), filter: EventFilter{Since: noon.Add(-time.Minute)}},
		"of a type that is wanted":     {event: event("Pod", "sample-log-1", 0, warning), filter: EventFilter{Types: []string{"Warning"}}, shown: true},
		"of a type that is not wanted": {event: event("Pod", "sample-log-1", 0), filter: EventFilter{Types: []string{"Warning"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := NewEventListView(meta, healthy(t).Cluster, []corev1.Event{tc.event}, tc.filter, noon)
			if shown := len(v.Items) == 1; shown != tc.shown {
				t.Errorf("shown: %v, want %v", shown, tc.shown)
			}
		})
	}
}

func TestEventTimeline(t *testing.T) {
	v := NewEventListView(meta, healthy(t).Cluster, []corev1.Event{
		event("Pod", "sample-storage-3", time.Minute, warning),
		event("Pod", "sample-log-1", 2*time.Minute, modern),
		event("PersistentVolumeClaim", "sample-storage-3-data", 30*time.Minute),
		event("FoundationDBCluster", "sample", 10*time.Second, modern, func(e *corev1.Event) {
			e.Series = &corev1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(noon.Add(-5 * time.Second))}
		}),
	}, EventFilter{}, noon)
	if got := v.Items[2].ProcessGroup; got != "storage-3" {
		t.Errorf("process group %q", got)
	}
	var b bytes.Buffer
	if err := WriteEvents(&b, v, ListOptions{Wide: true, Now: noon}); err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, b.Bytes())
}

func TestAnEventIsFreshOnceAndWhenItWasSeenAgain(t *testing.T) {
	shown, e := map[string]int{}, event("Pod", "sample-log-1", 0)
	fresh := func() int {
		return len(NewEventListView(meta, healthy(t).Cluster, []corev1.Event{e}, EventFilter{}, noon).Fresh(shown).Items)
	}
	got := []int{fresh(), fresh()}
	e.Count++
	if diff := cmp.Diff([]int{1, 0, 1, 0}, append(got, fresh(), fresh())); diff != "" {
		t.Error(diff)
	}
}
