package lists_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

func TestCoordinatorDiagnosisShowsOldAndNewAddresses(t *testing.T) {
	f, pods := lists.CoordinatorPods(t)
	pods[0].Status.PodIP, pods[1].Status.PodIP = "10.9.9.1", "10.9.9.2"
	var out bytes.Buffer
	v := lists.NewCoordinatorDiagnosisView(meta, f)
	if err := ui.WriteCoordinatorDiagnosis(&out, v); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"127.0.2.11:4501", "moved", "10.9.9.1", "10.9.9.2", "2 of 3 coordinators must answer; 2 have other addresses now, so only 1 can be found"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if got := v.Pods(lists.CoordinatorMoved); len(got) != 2 {
		t.Errorf("pods %v", got)
	}
}
