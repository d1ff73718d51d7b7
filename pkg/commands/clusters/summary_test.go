package clusters_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestTheReportedWaitReasonIsTheCauseInTheNewestPass(t *testing.T) {
	start := reconcile.PassStarted{Stages: []plan.StageName{"First", "Second", "Third"}}
	waits := func(stage plan.StageName, reason string) reconcile.Event {
		return reconcile.StageDone{Stage: stage, Outcome: reconcile.Waiting, Reason: reason}
	}
	follows := func(stage plan.StageName, reason string) reconcile.Event {
		return reconcile.StageDone{Stage: stage, Outcome: reconcile.Waiting, Reason: reason, Follows: true}
	}
	done := func(stage plan.StageName) reconcile.Event { return reconcile.StageDone{Stage: stage} }
	did := func(stage plan.StageName) reconcile.Event {
		return reconcile.ActionDone{Stage: stage, Action: plan.WriteStatus{}}
	}
	cut := func(stage plan.StageName) reconcile.Event {
		return reconcile.StageDone{Stage: stage, Outcome: reconcile.Waiting, Reason: "interrupted", Interrupted: true}
	}
	tests := map[string]struct {
		events []reconcile.Event
		want   string
	}{
		"the first that waits":                      {[]reconcile.Event{start, waits("First", "a"), waits("Second", "b"), done("Third"), reconcile.PassDone{}}, "First: a"},
		"the cause and not what follows it":         {[]reconcile.Event{start, follows("First", "a"), waits("Second", "b"), done("Third"), reconcile.PassDone{}}, "Second: b"},
		"what follows where there is nothing else":  {[]reconcile.Event{start, follows("First", "a"), done("Second"), done("Third"), reconcile.PassDone{}}, "First: a"},
		"a refusal before a wait":                   {[]reconcile.Event{start, waits("First", "a"), reconcile.StageDone{Stage: "Second", Outcome: reconcile.Blocked, Reason: "b", Follows: true}, reconcile.PassDone{}}, "Second: b"},
		"the newest pass":                           {[]reconcile.Event{start, waits("First", "a"), reconcile.PassDone{}, start, done("First"), waits("Second", "b"), reconcile.PassDone{}}, "Second: b"},
		"nothing of what no longer runs":            {[]reconcile.Event{start, done("First"), waits("Second", "b"), reconcile.PassDone{}, start, done("First"), reconcile.PassDone{}}, ""},
		"an older pass where the newest was cut":    {[]reconcile.Event{start, done("First"), waits("Second", "b"), reconcile.PassDone{}, start, done("First"), reconcile.PassDone{Interrupted: true}}, "Second: b"},
		"nothing that the newest pass has done":     {[]reconcile.Event{start, waits("First", "a"), reconcile.PassDone{}, start, did("First"), cut("First"), reconcile.PassDone{Interrupted: true}}, ""},
		"what the newest pass has not come to do":   {[]reconcile.Event{start, waits("First", "a"), reconcile.PassDone{}, start, cut("First"), reconcile.PassDone{Interrupted: true}}, "First: a"},
		"what a stage waits for after it has acted": {[]reconcile.Event{start, did("First"), waits("First", "a"), reconcile.PassDone{}}, "First: a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var s session.Summary
			for _, e := range tc.events {
				s.Report(e)
			}
			if got := s.Text(reconcile.PassDone{}); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// With -q the result is one line on stdout, also after several passes and with targets.
func TestTheSummaryWithQIsOneLine(t *testing.T) {
	for line, want := range map[string]string{
		"reconcile sample --yes --wait -q": "sample: reconciled (",
		"reconcile sample --yes -q":        "sample: ",
	} {
		g := commandstest.NewGiven(t)
		g.Run(strings.Fields(line)...)
		if out := g.Out.String(); strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, want) {
			t.Errorf("%s: %s%s", line, out, &g.Err)
		}
	}
	g := commandstest.Healthy(t)
	id := string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID)
	if code := g.Run("restart", "sample", id, "--yes", "--wait", "-q"); code != exit.ExitDone || strings.Count(g.Out.String(), "\n") != 1 {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
