package commands

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestDetectFailures(t *testing.T) {
	fail := func(g *given) { delete(g.world.Pods, "sample-"+g.storage()[0]) }
	operated := func(g *given) {
		g.gates = []plan.Check{{Question: "is no live operator managing this cluster?", Gate: plan.GateOperator, Evidence: "one is"}}
	}
	gone := func(g *given) { clear(g.world.Pods) }
	tests := map[string]struct {
		given []func(*given)
		args  []string
		want  int
		says  string
		does  []string // the kinds of the actions
	}{
		"nothing failed":             {want: ExitDone, says: "sample: no process group has failed"},
		"a group failed":             {given: []func(*given){fail}, want: ExitNo, says: "sample: 1 process group has failed: STORAGE", does: []string{"WriteStatus", "RecordFailures"}},
		"a group failed, for a job":  {given: []func(*given){fail}, args: []string{"--exit-zero"}, want: ExitDone, says: "1 process group has failed", does: []string{"WriteStatus", "RecordFailures"}},
		"unknown":                    {given: []func(*given){gone}, want: ExitUnreachable, says: "sample: cannot determine which process groups have failed: the database is unavailable", does: []string{"WriteStatus"}},
		"unknown, for a job":         {given: []func(*given){gone}, args: []string{"--exit-zero"}, want: ExitUnreachable, says: "cannot determine", does: []string{"WriteStatus"}},
		"beside an operator":         {given: []func(*given){fail, operated}, want: ExitNo, says: "the status is not written: one is", does: []string{"RecordFailures"}},
		"nothing beside an operator": {given: []func(*given){operated}, want: ExitDone, says: "no process group has failed"},
		"unknown beside an operator": {given: []func(*given){gone, operated}, want: ExitUnreachable, says: "cannot determine"},
		"beside another run":         {given: []func(*given){fail, func(g *given) { g.world.LeaseHolder = "alice" }}, want: ExitConflict, says: "alice"},
		"a preview":                  {given: []func(*given){fail}, args: []string{"--dry-run"}, want: ExitNo, says: "RecordFailures"},
		"the names of the failed":    {given: []func(*given){fail}, args: []string{"-o", "name"}, want: ExitNo, says: "processgroup/STORAGE", does: []string{"WriteStatus", "RecordFailures"}},
		"without permission to annotate": {given: []func(*given){fail, func(g *given) {
			g.denied = []string{"patch foundationdbclusters.apps.foundationdb.org"}
		}}, want: ExitForbidden, says: "patch foundationdbclusters"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := up(t)
			storage := g.storage()[0]
			for _, change := range tc.given {
				change(g)
			}
			g.world.Acted = nil
			code := g.run(append([]string{"detect-failures", "sample"}, tc.args...)...)
			if says := strings.ReplaceAll(tc.says, "STORAGE", storage); code != tc.want || !strings.Contains(g.out.String()+g.err.String(), says) {
				t.Errorf("exit code %d, want %d and %q: %s%s", code, tc.want, says, &g.out, &g.err)
			}
			var kinds []string
			for _, a := range g.world.Acted {
				kinds = append(kinds, plan.KindOf(a))
			}
			if strings.Join(kinds, " ") != strings.Join(tc.does, " ") {
				t.Errorf("did %v, want %v", kinds, tc.does)
			}
			if _, seen := g.world.Record.FailuresSeen(); seen != strings.Contains(strings.Join(tc.does, " "), "RecordFailures") {
				t.Errorf("annotated: %t", seen)
			}
		})
	}
}

// A failure that is found again is recorded again: the annotation changes, and wakes a watch.
func TestFailuresAreDetectedAgain(t *testing.T) {
	g := up(t)
	delete(g.world.Pods, "sample-"+g.storage()[0])
	g.run("detect-failures", "sample")
	first, _ := g.world.Record.FailuresSeen()
	since, _ := g.world.Record.ProcessGroup(v1beta2.ProcessGroupID(g.storage()[0])).Condition(v1beta2.ConditionMissingPod)
	g.world.Tick(7200e9)
	if code := g.run("detect-failures", "sample", "-o", "json"); code != ExitNo {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
	again, _ := g.world.Record.FailuresSeen()
	still, _ := g.world.Record.ProcessGroup(v1beta2.ProcessGroupID(g.storage()[0])).Condition(v1beta2.ConditionMissingPod)
	if !again.After(first) || since.IsZero() || !still.Equal(since) {
		t.Errorf("seen %v and %v, failed since %v and %v", first, again, since, still)
	}
	lines := strings.Split(strings.TrimSpace(g.out.String()), "\n")
	var result struct {
		Kind, Reason string
		Reached      bool
		ExitCode     int
		Targets      []struct{ ID, Phase string }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &result); err != nil {
		t.Fatal(err)
	}
	if result.Kind != "ChangeResult" || result.ExitCode != ExitNo || len(result.Targets) != 1 || result.Targets[0].Phase != "failed" || !strings.Contains(result.Reason, "has failed") {
		t.Errorf("got %+v", result)
	}
}
