package inspect_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// modern is how reporters of events.k8s.io tell of an event.
func modern(e *corev1.Event) {
	e.EventTime = metav1.NewMicroTime(e.LastTimestamp.Time)
	e.FirstTimestamp, e.LastTimestamp, e.Count, e.Source = metav1.Time{}, metav1.Time{}, 0, corev1.EventSource{}
	e.ReportingController = "scheduler"
}

func TestEventTimeline(t *testing.T) {
	v := inspect.NewEventListView(meta, healthy(t).Cluster, []corev1.Event{
		inspect.Event("Pod", "sample-storage-3", time.Minute, inspect.Warning),
		inspect.Event("Pod", "sample-log-1", 2*time.Minute, modern),
		inspect.Event("PersistentVolumeClaim", "sample-storage-3-data", 30*time.Minute),
		inspect.Event("FoundationDBCluster", "sample", 10*time.Second, modern, func(e *corev1.Event) {
			e.Series = &corev1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(noon.Add(-5 * time.Second))}
		}),
	}, inspect.EventFilter{}, noon)
	if got := v.Items[2].ProcessGroup; got != "storage-3" {
		t.Errorf("process group %q", got)
	}
	var b bytes.Buffer
	if err := ui.WriteList(&b, v, ui.ListOptions{Wide: true, Now: noon}); err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, b.Bytes())
}
