package commands

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// onNodes is a stable cluster with one more node, which has no pods.
func onNodes(t *testing.T) *given {
	t.Helper()
	g := healthy(t)
	g.objects = append(g.objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "empty"}})
	return g
}

// nodeWith is the first node with pods that are, or are not, all stateless.
func (g *given) nodeWith(stateless bool) string {
	for _, node := range g.cluster.Nodes {
		pods, withData := 0, 0
		for _, pod := range g.cluster.Pods {
			if pod.Spec.NodeName == node {
				pods++
				if v1beta2.ProcessClass(pod.Labels[v1beta2.LabelProcessClass]).IsStateful() {
					withData++
				}
			}
		}
		if pods > 0 && (withData == 0) == stateless {
			return node
		}
	}
	g.t.Fatalf("no node has such pods")
	return ""
}

func TestCanDrainExitCodesAndReasons(t *testing.T) {
	forbid := func(g *given) { g.nodesHidden = forbidden }
	tests := map[string]struct {
		given func(*given)
		args  []string
		want  int
		says  string // on stdout or stderr
	}{
		"stateless pods":                    {args: []string{"FREE"}, want: exit.ExitDone, says: "yes: drain may evict "},
		"the same as node/NAME":             {args: []string{"node/FREE"}, want: exit.ExitDone, says: "next: kubectl fdb drain node-"},
		"a log is replaced":                 {args: []string{"BUSY"}, want: exit.ExitDone, says: "replace 1 process group on node-"},
		"a coordinator moves":               {args: []string{"BUSY"}, want: exit.ExitDone, says: "yes: drain may move 1 coordinator"},
		"a group that the spec keeps":       {given: func(g *given) { g.keepAll() }, args: []string{"BUSY"}, want: exit.ExitNo, says: "it is kept by spec.cancelReplacementsForInstance"},
		"the rule is shown":                 {args: []string{"BUSY"}, want: exit.ExitDone, says: "note: rule for log: evicted when the facts are fresh and drained; replaced when enough others of its class are up"},
		"one of two nodes has to stay":      {given: func(g *given) { g.keepAll() }, args: []string{"FREE", "BUSY"}, want: exit.ExitNo, says: "no: "},
		"no pods at all":                    {args: []string{"empty"}, want: exit.ExitDone, says: "yes: no pod of sample is on empty now"},
		"a node that does not exist":        {args: []string{"lost-9"}, want: exit.ExitUsage, says: "not found"},
		"nothing":                           {want: exit.ExitUsage, says: "at least one node is required"},
		"a pod":                             {args: []string{"pod/x"}, want: exit.ExitUsage, says: "invalid node"},
		"a node that is known by its pods":  {given: forbid, args: []string{"FREE"}, want: exit.ExitDone, says: "note: nodes cannot be listed"},
		"a node whose existence is unknown": {given: forbid, args: []string{"empty"}, want: exit.ExitForbidden, says: "cannot determine whether a node exists"},
		"no answer": {given: func(g *given) {
			g.connect = func() (session.Session, error) { return mute{simulated{g.cluster, g}, nil}, nil }
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
				args = append(args, strings.NewReplacer("FREE", g.nodeWith(true), "BUSY", g.nodeWith(false)).Replace(arg))
			}
			if got := g.run(args...); got != tc.want || !strings.Contains(g.out.String()+g.err.String(), tc.says) {
				t.Errorf("exit code %d, want %d, and %q\nstdout: %s\nstderr: %s", got, tc.want, tc.says, &g.out, &g.err)
			}
		})
	}
}

// keepAll has the spec keep every process group from being replaced.
func (g *given) keepAll() {
	for _, group := range g.cluster.Resource.Status.ProcessGroups {
		g.cluster.Resource.Spec.CancelReplacementsForInstance = append(g.cluster.Resource.Spec.CancelReplacementsForInstance, group.ProcessGroupID)
	}
}

// Drain waits for the age of the last recovery, so that is no reason not to begin.
func TestCanDrainPassesSoonAfterARecovery(t *testing.T) {
	g := up(t)
	g.cluster.Tick(time.Minute)
	if code := g.run("can", "drain", "-c", "sample", g.nodeWith(true)); code != exit.ExitDone || !strings.Contains(g.out.String(), "waits") {
		t.Errorf("exit code %d: %s%s", code, &g.out, &g.err)
	}
}
