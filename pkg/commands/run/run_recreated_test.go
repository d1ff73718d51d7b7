package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// heldBack is the state of a run that named the cluster in a step, and waits for an approval.
func heldBack(t *testing.T, g *commandstest.Given, file string) (state string) {
	t.Helper()
	state = filepath.Join(t.TempDir(), "state.json")
	if code := g.Run("run", file, "--state", state); code != exit.ExitUnconfirmed {
		t.Fatalf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if uid := stateOf(t, state).Clusters["fdb/sample"]; uid != string(g.Cluster.Resource.UID) {
		t.Fatalf("the state has UID %q, want %q", uid, g.Cluster.Resource.UID)
	}
	return state
}

const beforeAndAfter = "- {name: a, check: 'status ${cluster}'}\n- {name: b, approve: {who: me}}\n- {name: c, run: 'pause ${cluster} --yes'}\n"

func TestARunIsNotContinuedOnAnotherClusterOfTheSameName(t *testing.T) {
	g := commandstest.Up(t)
	file := commandstest.Book(t, beforeAndAfter)
	state := heldBack(t, g, file)
	digest := stateOf(t, state).Steps[1].Digest
	before, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	commandstest.Remake(g.Cluster.Resource)
	if code := g.Run("run", file, "--state", state, "--approve", "b="+digest); code != exit.ExitConflict || !strings.Contains(g.Err.String(), "FoundationDBCluster sample in namespace fdb was deleted and recreated since the run began") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	if after, err := os.ReadFile(state); err != nil || string(after) != string(before) {
		t.Errorf("the state changed (%v): %s", err, after)
	}
	if strings.Contains(g.Err.String(), "/3] ") || g.Cluster.Resource.Spec.Skip {
		t.Errorf("a step ran: %s", &g.Err)
	}
}

func TestAStateWithoutUIDsRequiresADecision(t *testing.T) {
	for name, row := range map[string]struct {
		args []string
		want int
	}{
		"none is an error":     {nil, exit.ExitUnreachable},
		"done continues":       {[]string{"--unknown", "done"}, exit.ExitDone},
		"repeat continues too": {[]string{"--unknown", "repeat"}, exit.ExitDone},
	} {
		g := commandstest.Up(t)
		file := commandstest.Book(t, beforeAndAfter)
		state := heldBack(t, g, file)
		digest := stateOf(t, state).Steps[1].Digest
		older(t, state)
		if code := g.Run(append([]string{"run", file, "--state", state, "--approve", "b=" + digest}, row.args...)...); code != row.want {
			t.Errorf("%s: exit code %d, want %d: %s%s", name, code, row.want, &g.Out, &g.Err)
		}
	}
}

// older makes a state one of a release that kept no UIDs.
func older(t *testing.T, state string) {
	t.Helper()
	text, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "clusters")
	if text, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(state, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The first step ends with 6, as its own pass meets another cluster; the runbook continues after that.
func TestARunEndsAtAStepThatNamesARecreatedCluster(t *testing.T) {
	for name, step := range map[string]string{
		"a command": "{name: c, run: 'resume ${cluster} --yes', on: {conflict: continue}}",
		"a wait":    "{name: c, timeout: 1h, wait: {run: 'status ${cluster}'}, on: {conflict: continue}}",
	} {
		g := commandstest.Up(t)
		g.Meddle(commandstest.Remake)
		state := filepath.Join(t.TempDir(), "state.json")
		file := commandstest.Book(t, "- {name: a, run: 'pause ${cluster} --yes', compensate: 'resume ${cluster} --yes', on: {conflict: continue}}\n- "+step+"\n- {name: d, wait: {for: 1s}, timeout: 1m}\n")
		if code := g.Run("run", file, "--yes", "--state", state); code != exit.ExitConflict {
			t.Errorf("%s: exit code %d: %s%s", name, code, &g.Out, &g.Err)
		}
		if got, want := statuses(stateOf(t, state)), "a=done c=interrupted d=pending"; got != want {
			t.Errorf("%s: %s, want %s\n%s", name, got, want, &g.Err)
		}
	}
}
