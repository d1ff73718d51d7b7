package diagnose_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestWhyExitCodes(t *testing.T) {
	tests := map[string]struct {
		given func(*testing.T) *commandstest.Given
		args  []string
		stdin string
		want  int
		says  string // on stdout
	}{
		"nothing is wrong":                          {given: commandstest.Up, want: exit.ExitDone, says: "fdb/sample: nothing is blocked: the cluster matches its spec\n"},
		"a new cluster":                             {given: commandstest.NewGiven, want: exit.ExitDone, says: "nothing blocks the next pass  next: kubectl fdb reconcile sample -n fdb --context test\n"},
		"a pod without a node":                      {given: unscheduled, want: exit.ExitNo, says: "its pod is Pending, no node fits: 0/5 nodes are available: 5 Insufficient memory  next: kubectl describe pod sample-storage-"},
		"one group, by its pod":                     {given: unscheduled, args: []string{"POD"}, want: exit.ExitNo, says: "no node fits"},
		"one group, from stdin":                     {given: unscheduled, args: []string{"-"}, stdin: "POD\n", want: exit.ExitNo, says: "no node fits"},
		"a group that is fine":                      {given: unscheduled, args: []string{"OTHER"}, want: exit.ExitDone, says: "nothing blocks storage-"},
		"a group that does not exist":               {given: commandstest.Up, args: []string{"storage-0"}, want: exit.ExitUsage},
		"names of the groups":                       {given: unscheduled, args: []string{"-o", "name"}, want: exit.ExitNo, says: "processgroup/storage-"},
		"one field":                                 {given: unscheduled, args: []string{"-o", "jsonpath={.state}"}, want: exit.ExitNo, says: "blocked"},
		"a row per reason":                          {given: unscheduled, args: []string{"-o", "wide"}, want: exit.ExitNo, says: "SUBJECT"},
		"an unknown output":                         {given: commandstest.Up, args: []string{"-o", "xml"}, want: exit.ExitUsage},
		"the database does not answer":              {given: withoutAnswer, want: exit.ExitUnreachable, says: "fdb/sample: database does not answer: timed out  next: kubectl fdb status sample -n fdb --context test\n"},
		"a group, and the database does not report": {given: withoutAnswer, args: []string{"OTHER"}, want: exit.ExitUnreachable, says: "database does not answer"},
		"a live operator": {given: func(t *testing.T) *commandstest.Given {
			t.Helper()
			g := commandstest.NewGiven(t)
			g.Evaluated = []plan.Check{{Question: "is no live operator managing this cluster?", Gate: plan.GateOperator, Evidence: "one is"}}
			return g
		}, want: exit.ExitNo, says: "G-OPERATOR: is no live operator managing this cluster? one is"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := tc.given(t)
			args := []string{"why", "sample"}
			for _, arg := range tc.args {
				args = append(args, g.Named(arg))
			}
			if tc.stdin != "" {
				input := g.Named(tc.stdin)
				g.Input = &input
			}
			got := g.Run(args...)
			if got != tc.want || !strings.Contains(g.Out.String(), tc.says) {
				t.Errorf("exit code %d, want %d, and %q on stdout\nstdout: %s\nstderr: %s", got, tc.want, tc.says, &g.Out, &g.Err)
			}
		})
	}
}

func unscheduled(t *testing.T) *commandstest.Given {
	t.Helper()
	g, _ := commandstest.WithoutNode(t)
	return g
}

func withoutAnswer(t *testing.T) *commandstest.Given {
	t.Helper()
	g := commandstest.Up(t)
	g.Connect = func() (session.Session, error) {
		return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
	}
	return g
}

// countingLooks counts the reads of the database.
type countingLooks struct {
	commandstest.Simulated
	requested *int
}

func (c countingLooks) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Database != 0 {
		*c.requested++
	}
	return c.Simulated.Observe(ctx, into, facets)
}

func TestWhyReadsTheDatabaseOnce(t *testing.T) {
	g, _ := commandstest.WithoutNode(t)
	requested := 0
	g.Connect = func() (session.Session, error) {
		return countingLooks{commandstest.Simulated{Cluster: g.Cluster, G: g}, &requested}, nil
	}
	g.Run("why", "sample")
	if requested != 1 {
		t.Errorf("asked %d times", requested)
	}
}

func TestWhyChangesNothing(t *testing.T) {
	g, _ := commandstest.WithoutNode(t)
	acted := len(g.Cluster.Acted)
	g.Run("why", "sample")
	if len(g.Cluster.Acted) != acted {
		t.Errorf("%v", g.Cluster.Acted[acted:])
	}
}

func TestWhyWarnsOfMissingOrUnreadableNodes(t *testing.T) {
	tests := map[string]struct {
		hidden error
		want   string
	}{
		"the node was removed":         {want: "node lost-1 of some pods no longer exists"},
		"reading nodes is not allowed": {hidden: commandstest.ErrForbidden, want: "cannot determine whether nodes are ready: forbidden: list nodes: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, pod := commandstest.WithoutNode(t)
			g.Cluster.Pods[pod].Spec.NodeName = "lost-1"
			g.NodesHidden = tc.hidden
			g.Run("why", "sample", "-o", "json")
			var v why.Report
			if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
				t.Fatal(err)
			}
			if len(v.Warnings) != 1 || !strings.HasPrefix(v.Warnings[0], tc.want) {
				t.Errorf("want %q, got %q", tc.want, v.Warnings)
			}
		})
	}
}

// faulty is a cluster of a program with a bug in what reads the database.
type faulty struct{ commandstest.Simulated }

func (f faulty) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Database != 0 {
		panic("no status")
	}
	return f.Simulated.Observe(ctx, into, facets)
}

// A panic in a goroutine ended the program, and left the terminal of a dashboard as it was. It is no database without an answer.
func TestABugInAReadIsReportedAsOne(t *testing.T) {
	for _, args := range [][]string{{"status", "sample"}, {"why", "sample"}, {"check", "sample"}} {
		g := commandstest.Up(t)
		g.Connect = func() (session.Session, error) {
			return faulty{commandstest.Simulated{Cluster: g.Cluster, G: g}}, nil
		}
		code := g.Run(args...)
		if output := g.Out.String() + g.Err.String(); code == exit.ExitDone || !strings.Contains(output, "bug in kubectl-fdb") {
			t.Errorf("%v: exit code %d: %s", args, code, output)
		}
	}
}
