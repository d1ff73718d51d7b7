package inspect_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/describe"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// keeping is the healthy cluster whose spec keeps two groups, of which one differs from it.
func keeping(t *testing.T) inspect.Facts {
	t.Helper()
	f := healthy(t)
	f.Cluster.Spec.CancelReplacementsForInstance = []v1beta2.ProcessGroupID{"storage-1", "storage-2"}
	f.MarkReasons = map[v1beta2.ProcessGroupID][]string{"storage-1": {"the spec of the PVC differs"}}
	f.Cluster.ProcessGroup("storage-2").MarkForRemoval(noon.Add(-5 * time.Minute))
	return f
}

func TestKeptGroupsAreShownInGroupsDescribeAndStatus(t *testing.T) {
	f := keeping(t)
	var groups, description bytes.Buffer
	if err := ui.WriteList(&groups, inspect.NewGroupListView(meta, f), ui.ListOptions{Now: noon}); err != nil {
		t.Fatal(err)
	}
	line := func(program string) func(...string) string {
		return func(words ...string) string { return program + " " + strings.Join(words, " ") }
	}
	in := describe.Input{}
	in.Facts, in.Commands = f, inspect.Commands{FDB: line("kubectl fdb"), Kubectl: line("kubectl")}
	if err := ui.WriteGroupDescription(&description, describe.NewGroupDescription(meta, in, f.Cluster.ProcessGroup("storage-1")), ui.StatusOptions{Now: noon}); err != nil {
		t.Fatal(err)
	}
	for id, word := range map[string]string{"storage-1": "kept", "storage-2": "kept(5m)", "storage-3": "-"} {
		var shown []string
		for row := range strings.Lines(groups.String()) {
			if fields := strings.Fields(row); fields[0] == id {
				shown = append(shown, fields[len(fields)-2])
			}
		}
		if diff := cmp.Diff([]string{word}, shown); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", id, diff, &groups)
		}
	}
	for where, want := range map[string]string{
		description.String():                     "by spec.cancelReplacementsForInstance",
		description.String() + " ":               "marked without it: the spec of the PVC differs",
		description.String() + "  ":              "expected",
		string(screen(t, f, ui.StatusOptions{})): "2 process groups by spec.cancelReplacementsForInstance; 1 process group is kept although the spec wants it replaced",
	} {
		if !strings.Contains(where, want) {
			t.Errorf("%q is missing:\n%s", want, where)
		}
	}
}

// A plan has what would mark kept groups, and which of them do not exist.
func TestAPlanShowsKeptGroupsThatWouldBeMarked(t *testing.T) {
	var r planned.PlanRecorder
	r.Report(reconcile.StageDecided{Stage: plan.StageCancelReplacements, Decision: plan.Decision{Checks: []plan.Check{
		{ID: plan.CheckKeptExist, Question: "?", Evidence: "storage-9 is not in the status"},
		{ID: plan.CheckKept, Subject: "storage-1", Question: "?", OK: true, Evidence: "by the field; without it: it failed", Have: "1 reason"},
		{ID: plan.CheckKept, Subject: "storage-2", Question: "?", OK: true, Evidence: "by the field; nothing"},
	}}})
	v := r.View(planned.PlanView{}.Metadata)
	var text bytes.Buffer
	if err := ui.WritePlan(&text, v, ui.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(v.Kept) != 2 || len(v.Warnings) != 1 {
		t.Errorf("kept %v, warnings %v", v.Kept, v.Warnings)
	}
	for want, there := range map[string]bool{
		"warning: storage-9 is not in the status": true, "kept: storage-1, by the field; without it: it failed": true, "storage-2": false,
	} {
		if strings.Contains(text.String(), want) != there {
			t.Errorf("%q is there: %t\n%s", want, !there, text.String())
		}
	}
}
