package commands

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// A pod that never terminates keeps no other group from being replaced, and no command from ending.
func TestAReplacementThatTimeDoesNotFinishEndsWithWhatKeepsIt(t *testing.T) {
	g := up(t)
	old := g.storage()
	stuck := "sample-" + old[0]
	g.cluster.Unending[stuck] = true
	code := g.run("replace", "sample", old[0], old[1], "--wait", "--yes")
	out := g.out.String() + g.err.String()
	if code != exit.ExitRefused {
		t.Fatalf("exit code %d: %s", code, out)
	}
	if g.cluster.Pods[stuck] == nil || g.cluster.Pods["sample-"+old[1]] != nil {
		t.Errorf("pods %v", g.cluster.RunningPods())
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

	delete(g.cluster.Unending, stuck)
	g.cluster.KillPod(stuck)
	if code := g.run("replace", "sample", old[0], old[1], "--wait", "--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d after the pod ended: %s%s", code, &g.out, &g.err)
	}
}
