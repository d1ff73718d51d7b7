package diagnose_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// onNodes is a stable cluster with one more node, which has no pods.
func onNodes(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Healthy(t)
	g.Objects = append(g.Objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "empty"}})
	return g
}

func TestCanDrainExitCodesAndReasons(t *testing.T) {
	forbid := func(g *commandstest.Given) { g.NodesHidden = commandstest.ErrForbidden }
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
		want  int
		says  string // on stdout or stderr
	}{
		"stateless pods":                    {args: []string{"FREE"}, want: exit.ExitDone, says: "yes: drain may evict "},
		"the same as node/NAME":             {args: []string{"node/FREE"}, want: exit.ExitDone, says: "next: kubectl fdb drain node-"},
		"a log is replaced":                 {args: []string{"BUSY"}, want: exit.ExitDone, says: "replace 1 process group on node-"},
		"a coordinator moves":               {args: []string{"BUSY"}, want: exit.ExitDone, says: "yes: drain may move 1 coordinator"},
		"a group that the spec keeps":       {given: func(g *commandstest.Given) { g.KeepAll() }, args: []string{"BUSY"}, want: exit.ExitNo, says: "it is kept by spec.cancelReplacementsForInstance"},
		"the rule is shown":                 {args: []string{"BUSY"}, want: exit.ExitDone, says: "note: rule for log: evicted when the facts are fresh and drained; replaced when enough others of its class are up"},
		"one of two nodes has to stay":      {given: func(g *commandstest.Given) { g.KeepAll() }, args: []string{"FREE", "BUSY"}, want: exit.ExitNo, says: "no: "},
		"no pods at all":                    {args: []string{"empty"}, want: exit.ExitDone, says: "yes: no pod of sample is on empty now"},
		"a node that does not exist":        {args: []string{"lost-9"}, want: exit.ExitUsage, says: "not found"},
		"nothing":                           {want: exit.ExitUsage, says: "at least one node is required"},
		"a pod":                             {args: []string{"pod/x"}, want: exit.ExitUsage, says: "invalid node"},
		"a node that is known by its pods":  {given: forbid, args: []string{"FREE"}, want: exit.ExitDone, says: "note: nodes cannot be listed"},
		"a node whose existence is unknown": {given: forbid, args: []string{"empty"}, want: exit.ExitForbidden, says: "cannot determine whether a node exists"},
		"no answer": {given: func(g *commandstest.Given) {
			g.Connect = func() (session.Session, error) {
				return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
			}
		}, args: []string{"FREE"}, want: exit.ExitUnreachable, says: "unknown: no answer from the database"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := onNodes(t)
			if tc.given != nil {
				tc.given(g)
			}
			args := []string{"can", "drain", "-c", "sample"}
			for _, arg := range tc.args {
				args = append(args, strings.NewReplacer("FREE", g.NodeWith(true), "BUSY", g.NodeWith(false)).Replace(arg))
			}
			if got := g.Run(args...); got != tc.want || !strings.Contains(g.Out.String()+g.Err.String(), tc.says) {
				t.Errorf("exit code %d, want %d, and %q\nstdout: %s\nstderr: %s", got, tc.want, tc.says, &g.Out, &g.Err)
			}
		})
	}
}

// Drain waits for the age of the last recovery, so that is no reason not to begin.
func TestCanDrainPassesSoonAfterARecovery(t *testing.T) {
	g := commandstest.Up(t)
	g.Cluster.Tick(time.Minute)
	if code := g.Run("can", "drain", "-c", "sample", g.NodeWith(true)); code != exit.ExitDone || !strings.Contains(g.Out.String(), "waits") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
