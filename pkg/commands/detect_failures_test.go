package commands

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestDetectFailures(t *testing.T) {
	fail := func(g *given) { delete(g.cluster.Pods, "sample-"+g.storage()[0]) }
	operated := func(g *given) {
		g.gates = []plan.Check{{Question: "is no live operator managing this cluster?", Gate: plan.GateOperator, Evidence: "one is"}}
	}
	removed := func(g *given) { clear(g.cluster.Pods) }
	tests := map[string]struct {
		given []func(*given)
		args  []string
		want  int
		says  string
		does  []string // the kinds of the actions
	}{
		"nothing failed":             {want: exit.ExitDone, says: "sample: no process group has failed"},
		"a group failed":             {given: []func(*given){fail}, want: exit.ExitNo, says: "sample: 1 process group has failed: STORAGE", does: []string{"WriteStatus", "RecordFailures"}},
		"a group failed, for a job":  {given: []func(*given){fail}, args: []string{"--exit-zero"}, want: exit.ExitDone, says: "1 process group has failed", does: []string{"WriteStatus", "RecordFailures"}},
		"unknown":                    {given: []func(*given){removed}, want: exit.ExitUnreachable, says: "sample: cannot determine which process groups have failed: the database is unavailable", does: []string{"WriteStatus"}},
		"unknown, for a job":         {given: []func(*given){removed}, args: []string{"--exit-zero"}, want: exit.ExitUnreachable, says: "cannot determine", does: []string{"WriteStatus"}},
		"beside an operator":         {given: []func(*given){fail, operated}, want: exit.ExitNo, says: "the status is not written: one is", does: []string{"RecordFailures"}},
		"nothing beside an operator": {given: []func(*given){operated}, want: exit.ExitDone, says: "no process group has failed"},
		"unknown beside an operator": {given: []func(*given){removed, operated}, want: exit.ExitUnreachable, says: "cannot determine"},
		"beside another run":         {given: []func(*given){fail, func(g *given) { g.cluster.LeaseHolder = "alice" }}, want: exit.ExitConflict, says: "alice"},
		"a preview":                  {given: []func(*given){fail}, args: []string{"--dry-run"}, want: exit.ExitNo, says: "RecordFailures"},
		"the names of the failed":    {given: []func(*given){fail}, args: []string{"-o", "name"}, want: exit.ExitNo, says: "processgroup/STORAGE", does: []string{"WriteStatus", "RecordFailures"}},
		"without permission to annotate": {given: []func(*given){fail, func(g *given) {
			g.denied = []string{"patch foundationdbclusters.apps.foundationdb.org"}
		}}, want: exit.ExitForbidden, says: "patch foundationdbclusters"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := up(t)
			storage := g.storage()[0]
			for _, change := range tc.given {
				change(g)
			}
			g.cluster.Acted = nil
			code := g.run(append([]string{"detect-failures", "sample"}, tc.args...)...)
			if says := strings.ReplaceAll(tc.says, "STORAGE", storage); code != tc.want || !strings.Contains(g.out.String()+g.err.String(), says) {
				t.Errorf("exit code %d, want %d and %q: %s%s", code, tc.want, says, &g.out, &g.err)
			}
			var kinds []string
			for _, a := range g.cluster.Acted {
				kinds = append(kinds, plan.KindOf(a))
			}
			if strings.Join(kinds, " ") != strings.Join(tc.does, " ") {
				t.Errorf("did %v, want %v", kinds, tc.does)
			}
			if _, seen := g.cluster.Resource.FailuresSeen(); seen != strings.Contains(strings.Join(tc.does, " "), "RecordFailures") {
				t.Errorf("annotated: %t", seen)
			}
		})
	}
}

// A failure that is found again is recorded again: the annotation changes, and wakes a watch.
func TestDetectFailuresRecordsAPersistingFailureAgain(t *testing.T) {
	g := up(t)
	delete(g.cluster.Pods, "sample-"+g.storage()[0])
	g.run("detect-failures", "sample")
	first, _ := g.cluster.Resource.FailuresSeen()
	since, _ := g.cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.storage()[0])).Condition(v1beta2.ConditionMissingPod)
	g.cluster.Tick(7200e9)
	if code := g.run("detect-failures", "sample", "-o", "json"); code != exit.ExitNo {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
	again, _ := g.cluster.Resource.FailuresSeen()
	still, _ := g.cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.storage()[0])).Condition(v1beta2.ConditionMissingPod)
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
	if result.Kind != "ChangeResult" || result.ExitCode != exit.ExitNo || len(result.Targets) != 1 || result.Targets[0].Phase != "failed" || !strings.Contains(result.Reason, "has failed") {
		t.Errorf("got %+v", result)
	}
}

// Every command reads the CronJob with the rest: one that does not would create it again, or show
// that it is missing.
func TestPlanWhyAndStatusReadTheFailureDetectorCronJob(t *testing.T) {
	g := up(t)
	g.cluster.Resource.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = &v1beta2.FailureDetectionCronJob{Enabled: new(true), Image: new("kubectl-fdb:1")}
	g.cluster.Resource.Generation++
	if code := g.run("plan", "sample"); code != exit.ExitNo || !strings.Contains(g.out.String(), "ApplyFailureDetector") {
		t.Errorf("plan: exit code %d: %s%s", code, &g.out, &g.err)
	}
	if code := g.run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone || g.cluster.Detector == nil {
		t.Errorf("reconcile: exit code %d: %s%s", code, &g.out, &g.err)
	}
	for _, command := range []string{"plan", "why", "status"} {
		if code := g.run(command, "sample"); code != exit.ExitDone || strings.Contains(g.out.String(), "does not exist") {
			t.Errorf("%s: exit code %d: %s%s", command, code, &g.out, &g.err)
		}
	}
	if !strings.Contains(g.out.String(), "Detector        every 120m, no job yet") {
		t.Errorf("status does not show it: %s", &g.out)
	}
	g.cluster.Resource.Spec.AutomationOptions.Replacements.FailureDetectionCronJob.Image = nil
	if code := g.run("why", "sample"); code != exit.ExitNo || !strings.Contains(g.out.String(), "there is no published image") {
		t.Errorf("why without an image: exit code %d: %s%s", code, &g.out, &g.err)
	}
}

// A field that the API server dropped is in the output of every command about the state.
func TestCommandsReportASpecFieldDroppedByTheAPIServer(t *testing.T) {
	g := up(t)
	g.cluster.Resource.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"spec":{"cancelReplacementsForInstance":["storage-1"]}}`}
	const dropped = "the API server dropped spec.cancelReplacementsForInstance"
	for _, tc := range []struct {
		args []string
		want int
	}{
		{[]string{"plan", "sample"}, exit.ExitNo},
		{[]string{"why", "sample"}, exit.ExitNo},
		{[]string{"check", "sample", "--rules", "CFG"}, exit.ExitNo},
		{[]string{"reconcile", "sample", "--yes"}, exit.ExitRefused},
		{[]string{"replace", "sample", g.storage()[0], "--yes"}, exit.ExitRefused},
		{[]string{"cordon", "node-1", "-c", "sample", "--evacuate=now", "--yes"}, exit.ExitRefused},
	} {
		g.cluster.Acted = nil
		if code := g.run(tc.args...); code != tc.want || !strings.Contains(g.out.String()+g.err.String(), dropped) {
			t.Errorf("%v: exit code %d, want %d: %s%s", tc.args, code, tc.want, &g.out, &g.err)
		}
		for _, a := range g.cluster.Acted {
			if len(plan.GroupsOf(a)) > 0 {
				t.Errorf("%v: %s", tc.args, a.Describe())
			}
		}
	}
}
