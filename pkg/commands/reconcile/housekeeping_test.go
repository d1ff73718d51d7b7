package reconcile_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// removedAfterARecovery is a cluster whose first storage group is removed, but for its
// exclusion: the last recovery is too recent to end it.
func removedAfterARecovery(t *testing.T) (g *commandstest.Given, id string) {
	t.Helper()
	g = commandstest.Up(t)
	id = g.Storage()[0]
	if code := g.Run("replace", "sample", id, "--wait", "--yes"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if group := g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)); group == nil || g.Cluster.Pods["sample-"+id] != nil {
		t.Fatalf("nothing is left to a later pass: %s", &g.Out)
	}
	return g, id
}

const leftToALaterPass = "sample: deferred to a later pass: include locality_instance_id:"

func TestCommandsWaitForHousekeepingOnlyOnRequest(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
		says string
	}{
		"a pass":                {args: []string{"reconcile", "sample", "--yes"}, says: leftToALaterPass},
		"passes":                {args: []string{"reconcile", "sample", "--yes", "--wait"}, says: leftToALaterPass},
		"the replacement":       {args: []string{"replace", "sample", "ID", "--yes", "--wait"}, says: leftToALaterPass},
		"a plan":                {args: []string{"plan", "sample"}, says: "later: include locality_instance_id:"},
		"the reasons":           {args: []string{"why", "sample"}, says: "nothing is blocked"},
		"the reasons of it":     {args: []string{"why", "sample", "ID"}, want: exit.ExitNo, says: "its exclusion ends later"},
		"the state":             {args: []string{"wait", "sample", "--for=reconciled"}, says: "reconciled"},
		"the end of the group":  {args: []string{"wait", "sample", "--for=pg=ID:removed", "--timeout", "1s"}, want: exit.ExitWaiting, says: "timed out"},
		"all that is requested": {args: []string{"reconcile", "sample", "--yes", "--wait=all", "--timeout", "1m"}, want: exit.ExitWaiting, says: "timed out after 1m0s: include locality_instance_id:"},
	}
	g, id := removedAfterARecovery(t)
	for _, name := range []string{"a plan", "the reasons", "the reasons of it", "a pass", "passes", "the replacement", "the state", "the end of the group", "all that is requested"} {
		tc := tests[name]
		t.Run(name, func(t *testing.T) {
			for i, word := range tc.args {
				tc.args[i] = strings.ReplaceAll(word, "ID", id)
			}
			if code := g.Run(tc.args...); code != tc.want || !strings.Contains(g.Out.String()+g.Err.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s%s", code, tc.want, tc.says, &g.Out, &g.Err)
			}
		})
	}
}

func TestWaitForAllAlsoWaitsForHousekeeping(t *testing.T) {
	for _, command := range []string{"reconcile", "replace"} {
		t.Run(command, func(t *testing.T) {
			g, id := removedAfterARecovery(t)
			args := []string{command, "sample", "--yes", "--wait=all", "--timeout", "20m"}
			if command == "replace" {
				args = append(args, id)
			}
			if code := g.Run(args...); code != exit.ExitDone || strings.Contains(g.Out.String(), leftToALaterPass) {
				t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
			}
			if slices.Contains(g.Storage(), id) {
				t.Errorf("%s is still in the status", id)
			}
		})
	}
}

func TestHousekeepingIsPartOfTheJSONOutput(t *testing.T) {
	g, id := removedAfterARecovery(t)
	if code := g.Run("reconcile", "sample", "--yes", "-o", "json"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	lines := strings.Split(strings.TrimSpace(g.Out.String()), "\n")
	var result inspect.ReconcileResult
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &result); err != nil {
		t.Fatal(err)
	}
	left := result.Last.Housekeeping
	if len(left) != 1 || !slices.Equal(left[0].Groups, []v1beta2.ProcessGroupID{v1beta2.ProcessGroupID(id)}) ||
		!slices.Equal(left[0].Exclusions, []string{"locality_instance_id:" + id}) || left[0].Due == nil || left[0].RetryAfterSeconds == nil {
		t.Errorf("got %+v", left)
	}
}

func TestTheWaitFlagAcceptsItsDocumentedValues(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
	}{
		"as before":                      {args: []string{"reconcile", "sample", "--yes", "--wait"}},
		"as before, by its value":        {args: []string{"reconcile", "sample", "--yes", "--wait=true"}},
		"nothing":                        {args: []string{"drain", "node-1", "-c", "sample", "--dry-run", "--wait=false"}, want: exit.ExitNo},
		"of all that passes remove":      {args: []string{"replace", "sample", "--dry-run", "--wait=all", "--class", "storage"}, want: exit.ExitNo},
		"for what is unknown":            {args: []string{"reconcile", "sample", "--yes", "--wait=everything"}, want: exit.ExitUsage},
		"for what the command never has": {args: []string{"restart", "sample", "--class", "storage", "--yes", "--wait=all"}, want: exit.ExitUsage},
	}
	g := commandstest.Up(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if code := g.Run(tc.args...); code != tc.want {
				t.Errorf("exit code %d, want %d: %s%s", code, tc.want, &g.Out, &g.Err)
			}
		})
	}
}
