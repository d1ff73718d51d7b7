package inspect_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// busy is a cluster in which a bit of everything is going on.
func busy(t *testing.T) inspect.Facts {
	t.Helper()
	f := healthy(t)
	f.Database.Status = inspecttest.Recorded(t, "12-exclude-in-progress-1")
	f.Cluster.ProcessGroup("storage-5").MarkForRemoval(noon.Add(-41 * time.Minute))
	inspecttest.Unresponsiveness(f.Snapshot, "storage-3", 12*time.Minute)
	f.Cluster.ProcessGroup("storage-3").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-14*time.Minute))
	f.Cluster.ProcessGroup("log-4").MarkForRemoval(noon.Add(-time.Hour))
	f.Pods["sample-stateless-2"].Status.Phase = corev1.PodPending
	delete(f.Pods, "sample-stateless-3")
	return f
}

func TestGroupTable(t *testing.T) {
	tests := map[string]ui.ListOptions{"table": {}, "wide": {Wide: true}, "no-headers": {NoHeaders: true}, "absolute": {Absolute: true}}
	for name, o := range tests {
		t.Run(name, func(t *testing.T) {
			o.Now = noon
			var b bytes.Buffer
			if err := ui.WriteList(&b, inspect.NewGroupListView(meta, busy(t)), o); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, b.Bytes())
		})
	}
}

func TestProcessGroupTableWithoutADatabaseStatus(t *testing.T) {
	v := inspect.NewGroupListView(meta, unanswered(t))
	var b bytes.Buffer
	if err := ui.WriteList(&b, v, ui.ListOptions{Now: noon}); err != nil {
		t.Fatal(err)
	}
	if len(v.Warnings) != 1 || v.Source != inspect.SourceResource {
		t.Errorf("source %s, warnings %q", v.Source, v.Warnings)
	}
	golden.RequireEqual(t, b.Bytes())
}

// Judging again returns that something is so, and not since when.
func TestConditionStartTimesAreUnknownOnFirstObservation(t *testing.T) {
	tests := map[string]struct {
		recorded, now time.Duration
		want          *time.Time
	}{
		"recorded an hour ago":                {time.Hour, time.Hour, new(noon.Add(-time.Hour))},
		"recorded by the pass of this moment": {time.Nanosecond, 0, new(noon)},
		"seen now, and not recorded":          {0, 0, nil},
		"not recorded, and seen before by us": {0, time.Minute, new(noon.Add(-time.Minute))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			f.Recorded = f.Cluster.DeepCopy()
			if tc.recorded > 0 {
				f.Recorded.ProcessGroup("storage-3").SetCondition(v1beta2.ConditionPodFailing, noon.Add(-tc.recorded.Truncate(time.Second)))
			}
			g := f.Cluster.ProcessGroup("storage-3")
			g.SetCondition(v1beta2.ConditionPodFailing, noon.Add(-tc.now))
			v := f.ConditionsOf(g)[0]
			if diff := cmp.Diff(tc.want, v.Since); diff != "" {
				t.Error(diff)
			}
			if cell := (inspect.GroupView{Conditions: []inspect.ConditionView{v}}).ConditionsCell(list.At{Now: noon}); tc.want == nil && cell.Text != "PodFailing(?)" {
				t.Errorf("got %s", cell.Text)
			}
		})
	}
}
