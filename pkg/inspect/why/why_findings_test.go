package why

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
)

func TestAnErrorThatNoOtherChainNamesIsAChainOfItsOwn(t *testing.T) {
	fault := findings.Finding{Code: "POD-099", Severity: findings.Error, Groups: []string{"log-1", "log-2"}, Message: "the pod is odd", Fix: []string{"describe", "pod", "sample-log-1"}}
	mild := fault
	mild.Severity = findings.Warning
	w := why{Input: HealthyInput(t)}
	if got := w.findingsBeside([]findings.Finding{mild}, nil); len(got) > 0 {
		t.Errorf("a warning blocks nothing: %+v", got)
	}
	got := w.findingsBeside([]findings.Finding{fault}, []Chain{{Subjects: []string{"log-1"}}})
	if len(got) != 1 || got[0].State != Blocked || got[0].Reasons[0].Code != "POD-099" || got[0].Reasons[0].Message != "the pod is odd" {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff([]string{"log-2"}, got[0].Subjects); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"kubectl describe pod sample-log-1"}, got[0].Next); diff != "" {
		t.Error(diff)
	}
}
