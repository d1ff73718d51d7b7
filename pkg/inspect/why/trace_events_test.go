package why

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// A status document without recovery state and configuration is explained by the knob that
// empties it, wherever the knob is known from.
func TestWhyNamesTheKnobThatEmptiesTheStatusDocument(t *testing.T) {
	inSpec := func(f *inspect.Facts) {
		f.Cluster.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_min_trace_severity=20"}},
		}
	}
	inPod := func(f *inspect.Facts) {
		f.PodFiles = map[string]plan.PodReport{f.Cluster.ProcessGroup("log-1").PodName(f.Cluster): {
			Configuration: `{"version":"7.3.79","arguments":[{"value":"--knob_min_trace_severity=20"}]}`,
		}}
	}
	tests := map[string]struct {
		given  func(*inspect.Facts)
		lacks  bool
		places []string
	}{
		"in the spec":                       {inSpec, true, []string{"spec.processes[general].customParameters[0]"}},
		"in a pod, and no more in the spec": {inPod, true, []string{"processgroup/log-1"}},
		"nowhere":                           {func(*inspect.Facts) {}, true, nil},
		"in the spec, while the document has all": {inSpec, false, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			input := HealthyInput(t)
			f := input.Facts
			f.Database.Status.Client.DatabaseStatus.Available = false
			if tc.lacks {
				f.Database.Status.Cluster.Messages = []fdb.Message{{Name: fdb.MessageIncomplete}}
				for id, p := range f.Database.Status.Cluster.Processes { // as 7.3.79 prints it, with its configuration
					p.Locality = nil
					f.Database.Status.Cluster.Processes[id] = p
				}
				f.Database.Status.Cluster.RecoveryState = nil
			}
			tc.given(&f)
			input.Facts = f
			report := NewReport(meta, input)
			var knob []string
			for _, link := range report.Items[0].Reasons {
				knob = append(knob, link.Message)
			}
			found := slices.ContainsFunc(knob, func(what string) bool { return strings.Contains(what, "knob_min_trace_severity") })
			if found != (len(tc.places) > 0) {
				t.Fatalf("reasons %q, want the knob: %t", knob, len(tc.places) > 0)
			}
			for _, place := range tc.places {
				if !strings.Contains(knob[0], place) {
					t.Errorf("%q, want %q", knob[0], place)
				}
			}
			if found && !slices.ContainsFunc(report.Items[0].Next, func(next string) bool { return strings.Contains(next, "edit foundationdbcluster sample") }) {
				t.Errorf("next: %q", report.Items[0].Next)
			}
		})
	}
}
