package diagnose_test

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// A pod that never terminates keeps no other group from being replaced, and no command from ending.
func TestAReplacementThatTimeDoesNotFinishEndsWithWhatKeepsIt(t *testing.T) {
	g := commandstest.Up(t)
	old := g.Storage()
	stuck := "sample-" + old[0]
	g.Cluster.Unending[stuck] = true
	code := g.Run("replace", "sample", old[0], old[1], "--wait", "--yes")
	out := g.Out.String() + g.Err.String()
	if code != exit.ExitRefused {
		t.Fatalf("exit code %d: %s", code, out)
	}
	if g.Cluster.Pods[stuck] == nil || g.Cluster.Pods["sample-"+old[1]] != nil {
		t.Errorf("pods %v", g.Cluster.RunningPods())
	}
	last := out[strings.Index(out, "sample: blocked"):]
	for _, want := range []string{"blocked", "pod " + stuck + " does not terminate for 5m", "its kubelet has to end it: kubectl describe pod " + stuck} {
		if !strings.Contains(last, want) {
			t.Errorf("%q is not in %s", want, last)
		}
	}
	if strings.Contains(out, "resume:") || strings.Contains(last, "--wait") {
		t.Errorf("the hints repeat what cannot help: %s", out)
	}

	delete(g.Cluster.Unending, stuck)
	g.Cluster.KillPod(stuck)
	if code := g.Run("replace", "sample", old[0], old[1], "--wait", "--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d after the pod ended: %s%s", code, &g.Out, &g.Err)
	}
}
