package ui

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// footerLines are the two lines that were drawn last.
func footerLines(terminal *bytes.Buffer) []string {
	lines := strings.Split(strings.TrimRight(terminal.String(), "\n"), "\n")
	last := lines[max(0, len(lines)-2):]
	for i := range last {
		_, after, found := strings.Cut(last[i], "\x1b[J")
		if found {
			last[i] = after
		}
	}
	return last
}

func TestProgressShowsStagesAndActionsOfAPass(t *testing.T) {
	var terminal bytes.Buffer
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	p := NewProgress(layout.NewFooter(&terminal, func() int { return 100 }), clock)
	p.Begin()
	expected := clock.Now().Add(time.Minute)
	p.Operation(reconcile.OperationProgress{ExpectedAt: &expected})
	create := []plan.Action{plan.CreatePod{Group: "log-1"}, plan.CreatePod{Group: "log-2"}}
	for _, step := range []struct {
		event reconcile.Event
		want  []string
	}{
		{reconcile.PassStarted{Round: 1}, []string{"", "about 60s left by the forecast · pass 1, 0 actions, 0s so far"}},
		{reconcile.Observing{Stage: "AddPods", Facets: plan.Pods}, []string{"AddPods  reading pods", "pass 1, 0 actions"}},
		{reconcile.Observing{Stage: "AddPods", Facets: plan.Everything}, []string{"AddPods  reading the cluster state", "pass 1, 0 actions"}},
		{reconcile.StageDecided{Stage: "AddPods", Decision: plan.Decision{Actions: create}}, []string{"AddPods  ░░░░░░░░░░░░░░░░░░░░ 0/2", "pass 1"}},
		{reconcile.ActionStarted{Stage: "AddPods", Action: create[0]}, []string{"0/2  create 2 pods", "pass 1"}},
		{reconcile.ActionDone{Stage: "AddPods", Action: create[0]}, []string{"AddPods  ██████████░░░░░░░░░░ 1/2  create 2 pods", "1 action, "}},
		{reconcile.ActionDone{Stage: "AddPods", Action: create[1], Err: errors.New("quota")}, []string{"2/2  create 2 pods", "1 action, "}},
		{reconcile.StageDone{Stage: "AddPods", Outcome: reconcile.Waiting, Reason: "pods start"}, []string{"AddPods  pods start", "1 action, "}},
		{reconcile.PassStarted{Round: 2}, []string{"AddPods  pods start", "pass 1, "}},
		{reconcile.PassStarted{Round: 1}, []string{"AddPods  pods start", "pass 2, "}},
	} {
		p.Report(step.event)
		got := footerLines(&terminal)
		for i := range step.want {
			if !strings.Contains(got[i], step.want[i]) {
				t.Errorf("after %T the footer is %q, want %q in line %d", step.event, got, step.want[i], i+1)
			}
		}
	}
	clock.SetTime(clock.Now().Add(90 * time.Second))
	p.Wait("data moves")
	if got := footerLines(&terminal); !strings.Contains(got[0], "waiting: data moves") || !strings.HasPrefix(got[1], "pass 2, 1 action, 90s so far") {
		t.Errorf("the wait is shown as %q", got)
	}
	p.End()
	terminal.Reset()
	p.Report(reconcile.PassStarted{Round: 1})
	p.End()
	if terminal.Len() > 0 {
		t.Errorf("after its end: %q", &terminal)
	}
}

// While data moves, the forecast counts no more, and the footer has the phases of what is replaced.
func TestProgressShowsReplacements(t *testing.T) {
	var terminal bytes.Buffer
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	p := NewProgress(layout.NewFooter(&terminal, func() int { return 120 }), clock)
	p.Begin()
	defer p.End()
	expected := clock.Now().Add(12 * time.Second)
	moves := reconcile.Replacement{ID: "storage-1", Phases: phases("dddrpp"), LeftBytes: new(int64(375 << 20)), RateBytesPerSecond: new(4.8 * (1 << 20)), SoonestSeconds: new(71.0), LatestSeconds: new(88.0)}
	all := reconcile.OperationProgress{ExpectedAt: &expected, Targets: 5, ReplacementsTotal: 5, FullyReplicated: new(true), Zones: new(1)}
	for _, id := range []string{"storage-1", "storage-2", "storage-3", "storage-4", "storage-5"} {
		r := moves
		r.ID = id
		all.Replacements = append(all.Replacements, r)
	}
	terminal.Reset()
	p.Operation(all)
	shown := terminal.String()
	want := `
storage-1  ✓ marked  ✓ created  ✓ joined  ▸ draining 375MiB left at 4.8MiB/s  ○ delete  ○ include
storage-2  ✓ marked  ✓ created  ✓ joined  ▸ draining 375MiB left at 4.8MiB/s  ○ delete  ○ include
storage-3  ✓ marked  ✓ created  ✓ joined  ▸ draining 375MiB left at 4.8MiB/s  ○ delete  ○ include
2 more process groups
70-90s left · pass 1, 0 actions, 0s so far · 0 of 5 done · fully replicated · safe to lose 1 more zone
`
	if shown != want {
		t.Errorf("%s, want %s", shown, want)
	}
}

// Commands without a terminal have no progress.
func TestCallsOnNilProgressDoNothing(t *testing.T) {
	var p *Progress
	p.Begin()
	p.Operation(reconcile.OperationProgress{})
	p.Wait("data")
	p.Hide()
	p.End()
}

// On a terminal the text has what was changed and what is wrong; what ends by itself is progress.
func TestTextOutputBesideLiveProgressPrintsChangesAndProblems(t *testing.T) {
	var out bytes.Buffer
	report := Text(&out, TextOptions{Live: true})
	for _, e := range []reconcile.Event{
		reconcile.ActionDone{Stage: "UpdateStatus", Action: plan.WriteStatus{}},
		reconcile.StageDone{Stage: "AddPods", Outcome: reconcile.Waiting, Nature: plan.Ordinary, Reason: "pods start"},
		reconcile.StageDone{Stage: "ChangeCoordinators", Outcome: reconcile.Waiting, Nature: plan.Problem, Reason: "no coordinators"},
		reconcile.GatesChecked{Checks: []plan.Check{{Gate: plan.GateRecovery, Question: "is it old?"}}},
		reconcile.GatesChecked{Checks: []plan.Check{{Gate: plan.GateBackup, Question: "is it a backup?"}}},
		reconcile.ActionDone{Stage: "AddPods", Action: plan.CreatePod{Name: "log-1"}},
		reconcile.PassDone{},
	} {
		report(e)
	}
	for text, want := range map[string]bool{
		"UpdateStatus": false, "pods start": false, "no coordinators": true, "is it old?": false, "is it a backup?": true, "create pod log-1": true,
	} {
		if got := strings.Contains(out.String(), text); got != want {
			t.Errorf("%q is printed: %t, want %t:\n%s", text, got, want, &out)
		}
	}
}

// A refusal is no ordinary wait because its stage goes on with something else.
func TestProgressPrintsRefusedOrNotYetForAFailedCheck(t *testing.T) {
	for name, c := range map[string]struct {
		d    plan.Decision
		want string
	}{
		"denied, and the stage goes on": {plan.Decision{Checks: []plan.Check{{Gate: plan.GateDeny, Question: "q"}}}, "refused"},
		"too soon, and it goes on":      {plan.Decision{Checks: []plan.Check{{Gate: plan.GateRecovery, Question: "q"}}}, "not yet"},
		"an ordinary hold":              {plan.Decision{Checks: []plan.Check{{Gate: plan.GateAvailable, Question: "q"}}, Hold: &plan.Hold{Code: plan.HoldPodsPending}}, "not yet"},
		"a problem":                     {plan.Decision{Checks: []plan.Check{{Gate: plan.GateRecovery, Question: "q"}}, Hold: &plan.Hold{Code: plan.HoldDatabaseLost}}, "refused"},
	} {
		var out bytes.Buffer
		Text(&out, TextOptions{})(reconcile.StageDecided{Stage: "S", Decision: c.d})
		if !strings.Contains(out.String(), "  "+c.want) {
			t.Errorf("%s: %q, want %q", name, &out, c.want)
		}
	}
}

// Actions that differ in their object alone are one line; others, and those of -v, are not.
func TestRepeatedActionsAreOneLine(t *testing.T) {
	pods := func(n int) (all []reconcile.Event) {
		for i := range n {
			id := string(rune('a' + i))
			all = append(all, reconcile.ActionDone{Stage: "AddPods", Action: plan.CreatePod{Name: "pod-" + id}})
		}
		return append(all, reconcile.StageDone{Stage: "AddPods", Outcome: reconcile.Changed})
	}
	set := func(kind plan.ObjectKind, key string) reconcile.Event {
		return reconcile.ActionDone{Stage: "UpdateLabels", Action: plan.PatchMetadata{Kind: kind, Name: "x", Labels: map[string]string{key: ""}}}
	}
	end := reconcile.StageDone{Stage: "UpdateLabels", Outcome: reconcile.Changed}
	for name, c := range map[string]struct {
		events []reconcile.Event
		o      TextOptions
		want   int
	}{
		"one":              {pods(1), TextOptions{}, 1},
		"several":          {pods(9), TextOptions{}, 1},
		"several with -v":  {pods(9), TextOptions{Verbose: true}, 9},
		"the same labels":  {[]reconcile.Event{set(plan.KindPod, "a"), set(plan.KindPod, "a"), end}, TextOptions{}, 1},
		"other labels":     {[]reconcile.Event{set(plan.KindPod, "a"), set(plan.KindPod, "b"), end}, TextOptions{}, 2},
		"other objects":    {[]reconcile.Event{set(plan.KindPod, "a"), set(plan.KindPVC, "a"), end}, TextOptions{}, 2},
		"with a failure":   {append([]reconcile.Event{set(plan.KindPod, "a"), set(plan.KindPod, "a"), reconcile.ActionDone{Stage: "UpdateLabels", Action: plan.CreatePod{}, Err: errors.New("no")}}, end), TextOptions{}, 2},
		"a pass that ends": {[]reconcile.Event{set(plan.KindPod, "a"), set(plan.KindPod, "a"), reconcile.PassDone{}}, TextOptions{}, 1},
	} {
		var out bytes.Buffer
		report := Text(&out, c.o)
		for _, e := range c.events {
			report(e)
		}
		if got := strings.Count(out.String(), "\n"); got != c.want {
			t.Errorf("%s: %d lines, want %d:\n%s", name, got, c.want, &out)
		}
	}
}
