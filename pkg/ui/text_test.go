package ui

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestTextTellsOnceForAsLongAsItLasts(t *testing.T) {
	trouble := []reconcile.Event{
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
		"the same in every pass":                     {[][]reconcile.Event{trouble, trouble, trouble}, 1},
		"the same again after a pass that went well": {[][]reconcile.Event{trouble, well, trouble}, 2},
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
					t.Errorf("told %d times of %q, want %d:\n%s", n, line, tc.want, &out)
				}
			}
		})
	}
}

func TestThatTimePassesIsNoNews(t *testing.T) {
	tests := map[string]struct {
		a, b string
		same bool
	}{
		"only a duration differs":     {"the last recovery is 1m59s ago", "the last recovery is 2m4s ago", true},
		"hours, and parts of seconds": {"for 1h2m3s", "for 0.5s", true},
		"a count differs":             {"3 pods are missing", "2 pods are missing", false},
		"a name differs":              {"storage-1 is silent for 5s", "storage-2 is silent for 5s", false},
		"an address is no duration":   {"10.1.0.1:4501 is gone", "10.1.0.2:4501 is gone", false},
	}
	for name, tc := range tests {
		if same := Gist(tc.a) == Gist(tc.b); same != tc.same {
			t.Errorf("%s: %t", name, same)
		}
	}
}
