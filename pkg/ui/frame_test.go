package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// framed is a frame of a cluster that a pass wants to give another connection string.
func framed(t *testing.T) Frame {
	t.Helper()
	f := healthy(t)
	recorder := &PlanRecorder{}
	recorder.Report(reconcile.Observed{Snapshot: f.Snapshot})
	recorder.Report(reconcile.StageDecided{Stage: "GenerateInitialClusterFile", Decision: plan.Decision{
		Actions: []plan.Action{plan.SetConnectionString{ConnectionString: f.Cluster.Status.ConnectionString}, plan.WriteStatus{Status: f.Cluster.Status}},
	}})
	recorder.Report(reconcile.PassDone{Outcome: reconcile.Waiting})
	preview := recorder.View(meta)
	why := NewWhyReport(meta, WhyInput{Facts: f, Plan: preview, Commands: asked(t).Commands})
	return NewFrame(meta, FrameInput{
		Facts: f, Plan: &preview, Why: &why, History: &DrainHistory{},
		Sources: []FrameSource{NewFrameSource(SourceOfDatabase, noon, noon.Add(time.Second), "")},
	})
}

func TestAFrameThatWasKeptIsTheFrameThatWasShown(t *testing.T) {
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

func TestAFrameTellsNoSecretOfTheDatabase(t *testing.T) {
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

func TestAFrameOfAnUnknownClusterSaysSo(t *testing.T) {
	v := NewFrame(meta, FrameInput{Unknown: "the API server has not answered yet", History: &DrainHistory{}})
	if v.Status.State != StateUnknown || !strings.Contains(v.Status.Summary, "the API server has not answered yet") {
		t.Errorf("%s: %s", v.Status.State, v.Status.Summary)
	}
	if v.Status.Database.Available != nil || len(v.Groups.Items) > 0 {
		t.Errorf("something is known of a cluster that nobody saw: %+v", v.Status.Database)
	}
}

func TestHiddenSecrets(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a connection string":       {"set to a_b:Xy12@10.0.0.1:4501,10.0.0.2:4501", "set to a_b:***@10.0.0.1:4501,10.0.0.2:4501"},
		"one within JSON":           {`{"a":"x:y@[::1]:4501:tls"}`, `{"a":"x:***@[::1]:4501:tls"}`},
		"an address":                {"10.0.0.1:4501", "10.0.0.1:4501"},
		"a time and a mail address": {"12:00 me@here", "12:00 me@here"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := HideSecrets(tc.text); got != tc.want {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestLooksInQuickSuccessionMakeNoRate(t *testing.T) {
	h := &DrainHistory{Gap: 10 * time.Second}
	var p *Progress
	for i := range 10 { // every two seconds, with one look told twice
		h.add("p", noon.Add(time.Duration(i)*2*time.Second), int64(1000-i))
		p = h.add("p", noon.Add(time.Duration(i)*2*time.Second), int64(1000-i))
	}
	if len(p.window) > 4 {
		t.Errorf("%d samples of 18 seconds", len(p.window))
	}
	if last := p.window[len(p.window)-1]; last.left != 991 {
		t.Errorf("the newest sample has %d left", last.left)
	}
}

func TestLinesOfAPassTellNoSecretOfTheDatabase(t *testing.T) {
	set := plan.SetConnectionString{ConnectionString: "sample:abc@127.0.2.11:4501"}
	var lines []string
	tell := Lines(func(l json.RawMessage) { lines = append(lines, string(l)) })
	for _, e := range []reconcile.Event{
		reconcile.PassStarted{Round: 1},
		reconcile.StageDecided{Stage: "S", Decision: plan.Decision{Actions: []plan.Action{set}}},
		reconcile.ActionStarted{Stage: "S", Action: set},
		reconcile.ActionDone{Stage: "S", Action: set, Err: errors.New("no file sample:abc@127.0.2.11:4501")},
	} {
		tell(e)
	}
	if len(lines) != 4 || !strings.HasPrefix(lines[3], `{"event":"acted","pass":1,`) {
		t.Errorf("%q", lines)
	}
	for _, line := range lines {
		if strings.Contains(line, "abc") || strings.Contains(line, "details") {
			t.Error(line)
		}
	}
}
