package tui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// wholePass is a pass of which one step fails, one is locked, and that goes round twice.
func wholePass() []Entry {
	create, exclude := plan.CreatePod{Group: "storage-6", Name: "sample-storage-6"}, plan.CreatePod{Group: "storage-7", Name: "sample-storage-7"}
	stages := []plan.StageName{"UpdateStatus", "AddPods", "ExcludeInstances", "UpdateStatus"}
	return passLines(
		reconcile.PassStarted{Round: 1, Stages: stages},
		reconcile.GatesChecked{Checks: []plan.Check{{Question: "does no operator manage it?", OK: true}, {Question: "is no other run acting?", Gate: plan.GateLease, Evidence: "run7 is"}}},
		reconcile.Observing{Stage: "UpdateStatus", Facets: plan.Pods},
		reconcile.StageDone{Stage: "UpdateStatus", Outcome: reconcile.Done},
		reconcile.StageDecided{Stage: "AddPods", Decision: plan.Decision{Why: "two have no pod", Actions: []plan.Action{create, exclude}}},
		reconcile.LeaseTaken{Stage: "AddPods"},
		reconcile.ActionStarted{Stage: "AddPods", Action: create},
		reconcile.ActionStarted{Stage: "AddPods", Action: exclude},
		reconcile.ActionDone{Stage: "AddPods", Action: create},
		reconcile.ActionDone{Stage: "AddPods", Action: exclude, Err: errors.New("quota exceeded")},
		reconcile.StageDone{Stage: "AddPods", Outcome: reconcile.Failed, Reason: "creating pods: quota exceeded"},
		reconcile.LockTaken{Stage: "ExcludeInstances"},
		reconcile.PassStarted{Round: 2, Stages: stages},
		reconcile.StageDecided{Stage: "UpdateStatus"},
		reconcile.StageDone{Stage: "UpdateStatus", Outcome: reconcile.Done},
		reconcile.StageDone{Stage: "AddPods", Outcome: reconcile.Done},
		reconcile.StageDone{Stage: "ExcludeInstances", Outcome: reconcile.Blocked, Reason: "too few would be left"},
		reconcile.StageDone{Stage: "UpdateStatus", Outcome: reconcile.Waiting, Reason: "the cluster is not reconciled"},
		reconcile.PassDone{Outcome: reconcile.Failed, Acted: 1, Failures: []error{errors.New("create pod sample-storage-7: quota exceeded")}},
	)
}

func TestTheDashboardShowsAPassEventByEvent(t *testing.T) {
	var story strings.Builder
	m := shown(t, 120, 24, Options{})
	m = pressed(m, "8")
	fmt.Fprintf(&story, "# before\n%s", kept(m.View()))
	for _, e := range wholePass() {
		m = after(m, tickMsg{e.At})
		m = after(m, entryMsg{Entry: e})
		fmt.Fprintf(&story, "# %s\n", e.Pass[:min(90, len(e.Pass))])
		for _, l := range m.body(m.clusterView(), m.page(m.clusterView())) {
			if strings.HasPrefix(l, "pass") || strings.Contains(l, "✗") || strings.Contains(l, "●") || strings.Contains(l, "!") || strings.Contains(l, "✓") {
				story.WriteString(l + "\n")
			}
		}
	}
	golden.RequireEqual(t, []byte(story.String()))
}

// A pass has more stages than a small terminal has lines.
func TestTheDashboardShowsTheWaitReasonWithoutScrolling(t *testing.T) {
	stages := make([]plan.StageName, 34)
	for i := range stages {
		stages[i] = plan.StageName(fmt.Sprintf("Stage%d", i+1))
	}
	events := []reconcile.Event{reconcile.PassStarted{Round: 1, Stages: stages}}
	for _, name := range stages[:33] {
		events = append(events, reconcile.StageDone{Stage: name, Outcome: reconcile.Done})
	}
	events = append(events,
		reconcile.StageDone{Stage: stages[33], Outcome: reconcile.Waiting, Reason: "the last recovery is too near"},
		reconcile.PassDone{Outcome: reconcile.Waiting},
	)
	seen := pressed(shown(t, 80, 24, Options{}, append([]Entry{entry(lost())}, passLines(events...)...)...), "8").View()
	for _, want := range []string{"Stage34", "the last recovery is too near", "33 stages with nothing to do"} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q is not visible:\n%s", want, seen)
		}
	}
}

// States are immutable: they share nothing that later entries change.
func TestDashboardStatesAreImmutable(t *testing.T) {
	s, seen := state{}, map[int]string{}
	var states []state
	for i, e := range wholePass() {
		s = s.apply(e)
		states = append(states, s)
		seen[i] = fmt.Sprintf("%+v", s.pass)
	}
	for i, was := range states {
		if now := fmt.Sprintf("%+v", was.pass); now != seen[i] {
			t.Errorf("after %d entries:\n%s\nlater:\n%s", i+1, seen[i], now)
		}
	}
}

func TestTheDashboardIgnoresUnknownPassEvents(t *testing.T) {
	s := state{}
	for _, e := range wholePass() {
		s = s.apply(e)
	}
	for _, text := range []string{`{"event":"dreamt","stage":"AddPods"}`, `{"event":"stage","stage":"Nowhere","outcome":"done"}`, `"text"`, `{`, `{"kind":"ReconcileResult"}`} {
		after := s.apply(Entry{At: s.at, Pass: json.RawMessage(text)})
		if fmt.Sprintf("%+v", after.pass) != fmt.Sprintf("%+v", s.pass) {
			t.Errorf("%s: %+v", text, after.pass)
		}
	}
}

// A recording is lines of JSON; read again, it shows what was shown.
func TestAReplayedRecordingShowsTheSameViews(t *testing.T) {
	entries := append([]Entry{entry(lost())}, running()...)
	var b bytes.Buffer
	for _, e := range entries {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	var again []Entry
	for decoder := json.NewDecoder(&b); decoder.More(); {
		var e Entry
		if err := decoder.Decode(&e); err != nil {
			t.Fatal(err)
		}
		again = append(again, e)
	}
	for i := range views() {
		key := fmt.Sprint(i + 1)
		was := pressed(shown(t, 120, 40, Options{}, entries...), key).View()
		if is := pressed(shown(t, 120, 40, Options{}, again...), key).View(); is != was {
			t.Errorf("view %s was\n%s\nis\n%s", key, was, is)
		}
	}
}

func TestTheDashboardHistoryIsLimited(t *testing.T) {
	m := shown(t, 80, 24, Options{})
	for i := range 2 * maxStates {
		f := well()
		m = after(m, entryMsg{Entry: Entry{At: noon.Add(time.Duration(i) * time.Second), Cluster: "sample", Frame: f}})
	}
	if n := len(m.history().states); n != maxStates {
		t.Errorf("%d states are kept", n)
	}
}
