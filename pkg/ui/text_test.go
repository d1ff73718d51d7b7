package ui

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestTextOutputPrintsAPersistentProblemOnce(t *testing.T) {
	problem := []reconcile.Event{
		reconcile.PassStarted{Round: 1},
		reconcile.ActionDone{Stage: "AddPods", Action: plan.CreatePod{Name: "p"}, Err: errors.New("quota")},
		reconcile.StageDone{Stage: "RemovePods", Outcome: reconcile.Blocked, Reason: "ask a human"},
		reconcile.PassDone{Outcome: reconcile.Failed},
	}
	well := []reconcile.Event{reconcile.PassStarted{Round: 1}, reconcile.PassDone{Outcome: reconcile.Done}}
	tests := map[string]struct {
		passes [][]reconcile.Event
		want   int
	}{
		"the same in every pass":                     {[][]reconcile.Event{problem, problem, problem}, 1},
		"the same again after a pass that went well": {[][]reconcile.Event{problem, well, problem}, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			report := Text(&out, TextOptions{})
			for _, pass := range tc.passes {
				for _, e := range pass {
					report(e)
				}
			}
			for _, line := range []string{"quota", "ask a human"} {
				if n := strings.Count(out.String(), line); n != tc.want {
					t.Errorf("printed %d times of %q, want %d:\n%s", n, line, tc.want, &out)
				}
			}
		})
	}
}

// A reason is printed again when the hold is another one, and not when its numbers change.
func TestAWaitIsPrintedAgainWhenItsHoldChanges(t *testing.T) {
	pass := func(code plan.HoldCode, reason string, subjects ...string) []reconcile.Event {
		hold := &plan.Hold{Code: code, Subjects: subjects, Reason: reason}
		return []reconcile.Event{
			reconcile.PassStarted{Round: 1},
			reconcile.StageDecided{Stage: "RemovePods", Decision: plan.Decision{Hold: hold}},
			reconcile.StageDone{Stage: "RemovePods", Outcome: reconcile.Waiting, Reason: reason},
			reconcile.PassDone{Outcome: reconcile.Waiting},
		}
	}
	tests := map[string]struct {
		first, second []reconcile.Event
		want          int
	}{
		"only a duration differs": {pass("a", "recovered 1m59s ago", "storage-1"), pass("a", "recovered 2m4s ago", "storage-1"), 1},
		"another code":            {pass("a", "it waits", "storage-1"), pass("b", "it waits", "storage-1"), 2},
		"other subjects":          {pass("a", "it waits", "storage-1"), pass("a", "it waits", "storage-2"), 2},
	}
	for name, tc := range tests {
		var out strings.Builder
		report := Text(&out, TextOptions{})
		for _, e := range append(tc.first, tc.second...) {
			report(e)
		}
		if n := strings.Count(out.String(), "waiting"); n != tc.want {
			t.Errorf("%s: printed %d times, want %d:\n%s", name, n, tc.want, &out)
		}
	}
}
