package frame

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// framed is a frame of a cluster that a pass wants to give another connection string.
func framed(t *testing.T) Frame {
	t.Helper()
	f := healthy(t)
	recorder := &planned.PlanRecorder{}
	recorder.Report(reconcile.Observed{Snapshot: f.Snapshot})
	recorder.Report(reconcile.StageDecided{Stage: "GenerateInitialClusterFile", Decision: plan.Decision{
		Actions: []plan.Action{plan.SetConnectionString{ConnectionString: f.Cluster.Status.ConnectionString}, plan.WriteStatus{Status: f.Cluster.Status}},
	}})
	recorder.Report(reconcile.PassDone{Outcome: reconcile.Waiting})
	preview := recorder.View(meta)
	line := func(program string) func(...string) string {
		return func(words ...string) string { return program + " " + strings.Join(words, " ") }
	}
	report := why.NewReport(meta, why.Input{Facts: f, Plan: preview, Commands: inspect.Commands{FDB: line("kubectl fdb"), Kubectl: line("kubectl")}})
	return NewFrame(meta, Input{
		Facts: f, Plan: &preview, Why: &report, History: &inspect.DrainHistory{},
		Sources: []Source{NewSource(SourceOfDatabase, noon, noon.Add(time.Second), "")},
	})
}

func TestADashboardFrameRoundTripsThroughJSON(t *testing.T) {
	shown := framed(t)
	text, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	var kept Frame
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(kept)
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("%v: %s", err, cmp.Diff(string(text), string(again)))
	}
	if diff := cmp.Diff(shown.Sources, kept.Sources, cmpopts.EquateApproxTime(0)); diff != "" {
		t.Error(diff)
	}
}

func TestADashboardFrameRedactsTheConnectionString(t *testing.T) {
	text, err := json.Marshal(framed(t))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), ":abc@") {
		t.Errorf("the connection string is in the frame: %s", text)
	}
	if !strings.Contains(string(text), "sample:***@127.0.2.11:4501") {
		t.Errorf("what is hidden does not show: %s", text)
	}
}

func TestADashboardFrameOfAnUnreadClusterHasStateUnknown(t *testing.T) {
	v := NewFrame(meta, Input{Unknown: "the API server has not answered yet", History: &inspect.DrainHistory{}})
	if v.Status.State != inspect.StateUnknown || !strings.Contains(v.Status.Summary, "the API server has not answered yet") {
		t.Errorf("%s: %s", v.Status.State, v.Status.Summary)
	}
	if v.Status.Database.Available != nil || len(v.Groups.Items) > 0 {
		t.Errorf("something is known of a cluster that was never read: %+v", v.Status.Database)
	}
}
