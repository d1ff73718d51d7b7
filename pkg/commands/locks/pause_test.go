package locks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestPauseAndResume(t *testing.T) {
	operator := func(g *commandstest.Given) {
		g.Evaluated = []plan.Check{{Question: "is no live operator managing this cluster?", Gate: plan.GateOperator, Evidence: "one is"}}
	}
	tests := map[string]struct {
		given  func(*commandstest.Given)
		lines  [][]string
		want   int
		says   string
		paused bool
	}{
		"a cluster is paused":                         {lines: [][]string{{"pause", "sample"}}, paused: true, says: "undo: kubectl fdb resume sample -n fdb --context test"},
		"and resumed":                                 {lines: [][]string{{"pause", "sample"}, {"resume", "sample"}}, says: "resumed: operators act on it again"},
		"also while an operator acts on it":           {given: operator, lines: [][]string{{"pause", "sample"}}, paused: true, says: "paused for operators"},
		"not while another run acts on it":            {given: func(g *commandstest.Given) { g.Cluster.LeaseHolder = "alice" }, lines: [][]string{{"pause", "sample"}}, want: exit.ExitConflict, says: "alice"},
		"a dry run changes nothing":                   {lines: [][]string{{"pause", "sample", "--dry-run"}}, want: exit.ExitNo, says: "~ pause   set spec.skip to true"},
		"what is paused already stays as it is":       {lines: [][]string{{"pause", "sample", "--reason", "first"}, {"pause", "sample"}}, paused: true, says: "paused for operators"},
		"time cannot run backwards":                   {lines: [][]string{{"pause", "sample", "--for", "-1h"}}, want: exit.ExitUsage, says: "--for must not be negative"},
		"without the right to patch nothing is tried": {given: func(g *commandstest.Given) { g.Denied = []string{"patch foundationdbclusters.apps.foundationdb.org"} }, lines: [][]string{{"pause", "sample"}}, want: exit.ExitForbidden, says: "patch foundationdbclusters"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			if tc.given != nil {
				tc.given(g)
			}
			code := 0
			for _, line := range tc.lines {
				code = g.Run(line...)
			}
			output := g.Out.String() + g.Err.String()
			if code != tc.want || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.want, tc.says, output)
			}
			if g.Cluster.Resource.Spec.Skip != tc.paused {
				t.Errorf("spec.skip is %t", g.Cluster.Resource.Spec.Skip)
			}
			if left := len(g.Cluster.Resource.Annotations); !tc.paused && left > 0 {
				t.Errorf("%d annotations are left: %v", left, g.Cluster.Resource.Annotations)
			}
		})
	}
}

// An unreported expired pause would stop operators forever.
func TestStatusAndReconcileReportAPauseAndWhenItIsOverdue(t *testing.T) {
	g := commandstest.Up(t)
	if code := g.Run("pause", "sample", "--for", "2h", "--reason", "looking at slow commits"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	shows := func(code int, want string) {
		t.Helper()
		if got := g.Run("status", "sample"); got != code || !strings.Contains(g.Out.String(), want) {
			t.Errorf("exit code %d, want %d and %q: %s", got, code, want, &g.Out)
		}
	}
	shows(exit.ExitDone, "ago, for 119m more: looking at slow commits")
	if g.Run("reconcile", "sample", "--yes"); !strings.Contains(g.Err.String(), "paused: spec.skip makes operators skip the cluster, set by me@here") {
		t.Errorf("a pass does not say that the cluster is paused: %s", &g.Err)
	}
	g.Cluster.Tick(3 * time.Hour)
	shows(exit.ExitNo, "overdue for 6")
	if g.Run("reconcile", "sample", "--yes"); !strings.Contains(g.Err.String(), "to end the pause: kubectl fdb resume sample -n fdb --context test") {
		t.Errorf("a pass does not say that the pause should be over: %s", &g.Err)
	}
}

// A user who looks at the cluster must see that operators skip it, until when, and why.
func TestAPauseIsShownByStatusWhyPlanAndDescribe(t *testing.T) {
	g := commandstest.Healthy(t)
	if code := g.Run("pause", "sample", "--for", "2h", "--reason", "looking at slow commits"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	const words = " ago, for 119m more: looking at slow commits"
	for _, line := range []string{"status sample", "why sample", "plan sample", "describe sample"} {
		g.Run(strings.Fields(line)...)
		if !strings.Contains(g.Out.String(), words) {
			t.Errorf("%s: no %q in %s%s", line, words, &g.Out, &g.Err)
		}
	}
	for _, line := range []string{"why sample", "plan sample"} {
		if g.Run(append(strings.Fields(line), "-o", "json")...); !strings.Contains(g.Out.String(), `"reason":"looking at slow commits"`) && !strings.Contains(g.Out.String(), `"reason": "looking at slow commits"`) {
			t.Errorf("%s -o json: %s", line, &g.Out)
		}
	}
	g.Run("resume", "sample")
	for _, line := range []string{"why sample", "plan sample"} {
		if g.Run(strings.Fields(line)...); strings.Contains(g.Out.String(), "paused:") {
			t.Errorf("%s after the pause: %s", line, &g.Out)
		}
	}
}
