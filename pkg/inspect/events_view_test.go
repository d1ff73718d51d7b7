package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func Event(kind, name string, ago time.Duration, given ...func(*corev1.Event)) corev1.Event {
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

func Warning(e *corev1.Event) { e.Type = corev1.EventTypeWarning }

func TestEventsOfACluster(t *testing.T) {
	tests := map[string]struct {
		event  corev1.Event
		filter EventFilter
		shown  bool
	}{
		"its resource":                 {event: Event("FoundationDBCluster", "sample", 0), shown: true},
		"another one":                  {event: Event("FoundationDBCluster", "sample-2", 0)},
		"its pod":                      {event: Event("Pod", "sample-storage-3", 0), shown: true},
		"a pod that is long gone":      {event: Event("Pod", "sample-cluster-controller-77", 0), shown: true},
		"a pod of a longer name":       {event: Event("Pod", "sample-2-storage-3", 0)},
		"a pod that only looks alike":  {event: Event("Pod", "sample-storage-3-debug", 0)},
		"another pod":                  {event: Event("Pod", "sample-web-1", 0)},
		"its claim":                    {event: Event("PersistentVolumeClaim", "sample-storage-3-data", 0), shown: true},
		"another claim":                {event: Event("PersistentVolumeClaim", "data-sample-storage-3", 0)},
		"its service":                  {event: Event("Service", "sample", 0), shown: true},
		"the service of a group":       {event: Event("Service", "sample-log-1", 0), shown: true},
		"another kind":                 {event: Event("Deployment", "sample", 0)},
		"recent enough":                {event: Event("Pod", "sample-log-1", time.Minute), filter: EventFilter{Since: noon.Add(-time.Minute)}, shown: true},
		"too old":                      {event: Event("Pod", "sample-log-1", 2*time.Minute), filter: EventFilter{Since: noon.Add(-time.Minute)}},
		"of a requested type":          {event: Event("Pod", "sample-log-1", 0, Warning), filter: EventFilter{Types: []string{"Warning"}}, shown: true},
		"of a type that is not wanted": {event: Event("Pod", "sample-log-1", 0), filter: EventFilter{Types: []string{"Warning"}}},
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

func TestAnEventIsShownOnceAndAgainIfItsCountGrows(t *testing.T) {
	shown, e := map[string]int{}, Event("Pod", "sample-log-1", 0)
	fresh := func() int {
		return len(NewEventListView(meta, healthy(t).Cluster, []corev1.Event{e}, EventFilter{}, noon).Fresh(shown).Items)
	}
	got := []int{fresh(), fresh()}
	e.Count++
	if diff := cmp.Diff([]int{1, 0, 1, 0}, append(got, fresh(), fresh())); diff != "" {
		t.Error(diff)
	}
}
