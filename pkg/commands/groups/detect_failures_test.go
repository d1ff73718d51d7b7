package groups_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestDetectFailures(t *testing.T) {
	fail := func(g *commandstest.Given) { delete(g.Cluster.Pods, "sample-"+g.Storage()[0]) }
	operated := func(g *commandstest.Given) {
		g.Evaluated = []plan.Check{{Question: "is no live operator managing this cluster?", Gate: plan.GateOperator, Evidence: "one is"}}
	}
	removed := func(g *commandstest.Given) { clear(g.Cluster.Pods) }
	tests := map[string]struct {
		given []func(*commandstest.Given)
		args  []string
		want  int
		says  string
		does  []string // the kinds of the actions
	}{
		"nothing failed":             {want: exit.ExitDone, says: "sample: no process group has failed"},
		"a group failed":             {given: []func(*commandstest.Given){fail}, want: exit.ExitNo, says: "sample: 1 process group has failed: STORAGE", does: []string{"WriteStatus", "RecordFailures"}},
		"a group failed, for a job":  {given: []func(*commandstest.Given){fail}, args: []string{"--exit-zero"}, want: exit.ExitDone, says: "1 process group has failed", does: []string{"WriteStatus", "RecordFailures"}},
		"unknown":                    {given: []func(*commandstest.Given){removed}, want: exit.ExitUnreachable, says: "sample: cannot determine which process groups have failed: the database is unavailable", does: []string{"WriteStatus"}},
		"unknown, for a job":         {given: []func(*commandstest.Given){removed}, args: []string{"--exit-zero"}, want: exit.ExitUnreachable, says: "cannot determine", does: []string{"WriteStatus"}},
		"beside an operator":         {given: []func(*commandstest.Given){fail, operated}, want: exit.ExitNo, says: "the status is not written: one is", does: []string{"RecordFailures"}},
		"nothing beside an operator": {given: []func(*commandstest.Given){operated}, want: exit.ExitDone, says: "no process group has failed"},
		"unknown beside an operator": {given: []func(*commandstest.Given){removed, operated}, want: exit.ExitUnreachable, says: "cannot determine"},
		"beside another run":         {given: []func(*commandstest.Given){fail, func(g *commandstest.Given) { g.Cluster.LeaseHolder = "alice" }}, want: exit.ExitConflict, says: "alice"},
		"a preview":                  {given: []func(*commandstest.Given){fail}, args: []string{"--dry-run"}, want: exit.ExitNo, says: "~ recorded failures   record that 1 process group failed: STORAGE"},
		"the names of the failed":    {given: []func(*commandstest.Given){fail}, args: []string{"-o", "name"}, want: exit.ExitNo, says: "processgroup/STORAGE", does: []string{"WriteStatus", "RecordFailures"}},
		"without permission to annotate": {given: []func(*commandstest.Given){fail, func(g *commandstest.Given) {
			g.Denied = []string{"patch foundationdbclusters.apps.foundationdb.org"}
		}}, want: exit.ExitForbidden, says: "patch foundationdbclusters"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Up(t)
			storage := g.Storage()[0]
			for _, change := range tc.given {
				change(g)
			}
			g.Cluster.Acted = nil
			code := g.Run(append([]string{"detect-failures", "sample"}, tc.args...)...)
			if says := strings.ReplaceAll(tc.says, "STORAGE", storage); code != tc.want || !strings.Contains(g.Out.String()+g.Err.String(), says) {
				t.Errorf("exit code %d, want %d and %q: %s%s", code, tc.want, says, &g.Out, &g.Err)
			}
			var kinds []string
			for _, a := range g.Cluster.Acted {
				kinds = append(kinds, plan.KindOf(a))
			}
			if strings.Join(kinds, " ") != strings.Join(tc.does, " ") {
				t.Errorf("did %v, want %v", kinds, tc.does)
			}
			if _, seen := g.Cluster.Resource.FailuresSeen(); seen != strings.Contains(strings.Join(tc.does, " "), "RecordFailures") {
				t.Errorf("annotated: %t", seen)
			}
		})
	}
}

// A failure that is found again is recorded again: the annotation changes, and wakes a watch.
func TestDetectFailuresRecordsAPersistingFailureAgain(t *testing.T) {
	g := commandstest.Up(t)
	delete(g.Cluster.Pods, "sample-"+g.Storage()[0])
	g.Run("detect-failures", "sample")
	first, _ := g.Cluster.Resource.FailuresSeen()
	since, _ := g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.Storage()[0])).Condition(v1beta2.ConditionMissingPod)
	g.Cluster.Tick(7200e9)
	if code := g.Run("detect-failures", "sample", "-o", "json"); code != exit.ExitNo {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	again, _ := g.Cluster.Resource.FailuresSeen()
	still, _ := g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.Storage()[0])).Condition(v1beta2.ConditionMissingPod)
	if !again.After(first) || since.IsZero() || !still.Equal(since) {
		t.Errorf("seen %v and %v, failed since %v and %v", first, again, since, still)
	}
	lines := strings.Split(strings.TrimSpace(g.Out.String()), "\n")
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
	g := commandstest.Up(t)
	g.Cluster.Resource.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = &v1beta2.FailureDetectionCronJob{Enabled: new(true), Image: new("kubectl-fdb:1")}
	g.Cluster.Resource.Generation++
	if code := g.Run("plan", "sample"); code != exit.ExitNo || !strings.Contains(g.Out.String(), "+ failure detector ") {
		t.Errorf("plan: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("reconcile", "sample", "--yes", "--wait"); code != exit.ExitDone || g.Cluster.Detector == nil {
		t.Errorf("reconcile: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	for _, command := range []string{"plan", "why", "status"} {
		if code := g.Run(command, "sample"); code != exit.ExitDone || strings.Contains(g.Out.String(), "does not exist") {
			t.Errorf("%s: exit code %d: %s%s", command, code, &g.Out, &g.Err)
		}
	}
	if !strings.Contains(g.Out.String(), "Detector        every 120m, no job yet") {
		t.Errorf("status does not show it: %s", &g.Out)
	}
	g.Cluster.Resource.Spec.AutomationOptions.Replacements.FailureDetectionCronJob.Image = nil
	if code := g.Run("why", "sample"); code != exit.ExitNo || !strings.Contains(g.Out.String(), "there is no published image") {
		t.Errorf("why without an image: exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

// A field that the API server dropped is in the output of every command about the state.
func TestCommandsReportASpecFieldDroppedByTheAPIServer(t *testing.T) {
	g := commandstest.Up(t)
	g.Cluster.Resource.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"spec":{"cancelReplacementsForInstance":["storage-1"]}}`}
	const dropped = "the API server dropped spec.cancelReplacementsForInstance"
	for _, tc := range []struct {
		args []string
		want int
	}{
		{[]string{"plan", "sample"}, exit.ExitNo},
		{[]string{"why", "sample"}, exit.ExitNo},
		{[]string{"check", "sample", "--rules", "CFG"}, exit.ExitNo},
		{[]string{"reconcile", "sample", "--yes"}, exit.ExitRefused},
		{[]string{"replace", "sample", g.Storage()[0], "--yes"}, exit.ExitRefused},
		{[]string{"cordon", "node-1", "-c", "sample", "--evacuate=now", "--yes"}, exit.ExitRefused},
	} {
		g.Cluster.Acted = nil
		if code := g.Run(tc.args...); code != tc.want || !strings.Contains(g.Out.String()+g.Err.String(), dropped) {
			t.Errorf("%v: exit code %d, want %d: %s%s", tc.args, code, tc.want, &g.Out, &g.Err)
		}
		for _, a := range g.Cluster.Acted {
			if len(plan.GroupsOf(a)) > 0 {
				t.Errorf("%v: %s", tc.args, a.Describe())
			}
		}
	}
}
