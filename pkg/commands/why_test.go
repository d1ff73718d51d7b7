package commands

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// podsOf are the names of the pods of a class, in the order of the resource.
func (g *given) podsOf(class string) []string {
	var names []string
	for _, group := range g.cluster.Resource.Status.ProcessGroups {
		if string(group.ProcessClass) == class {
			names = append(names, group.PodName(g.cluster.Resource))
		}
	}
	return names
}

// withoutNode is a cluster in which a storage pod was lost and no node takes the new one.
func withoutNode(t *testing.T) (g *given, pod string) {
	t.Helper()
	g = up(t)
	pod = g.podsOf("storage")[1]
	g.cluster.Unschedulable = map[string]bool{pod: true}
	g.cluster.KillPod(pod)
	if code := g.run("reconcile", "sample", "--yes"); code != exit.ExitWaiting {
		t.Fatalf("exit code %d: %s%s", code, &g.out, &g.err)
	}
	g.cluster.Tick(38 * time.Minute)
	g.cluster.Pods[pod].Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/5 nodes are available: 5 Insufficient memory.",
		LastTransitionTime: metav1.NewTime(g.cluster.Now().Add(-38 * time.Minute)),
	}}}
	return g, pod
}

func TestWhyExitCodes(t *testing.T) {
	tests := map[string]struct {
		given func(*testing.T) *given
		args  []string
		stdin string
		want  int
		says  string // on stdout
	}{
		"nothing is wrong":                          {given: up, want: exit.ExitDone, says: "fdb/sample: nothing is blocked: the cluster matches its spec\n"},
		"a new cluster":                             {given: newGiven, want: exit.ExitDone, says: "nothing blocks the next pass  next: kubectl fdb reconcile sample -n fdb --context test\n"},
		"a pod without a node":                      {given: unscheduled, want: exit.ExitNo, says: "its pod is Pending, no node fits: 0/5 nodes are available: 5 Insufficient memory  next: kubectl describe pod sample-storage-"},
		"one group, by its pod":                     {given: unscheduled, args: []string{"POD"}, want: exit.ExitNo, says: "no node fits"},
		"one group, from stdin":                     {given: unscheduled, args: []string{"-"}, stdin: "POD\n", want: exit.ExitNo, says: "no node fits"},
		"a group that is fine":                      {given: unscheduled, args: []string{"OTHER"}, want: exit.ExitDone, says: "nothing blocks storage-"},
		"a group that does not exist":               {given: up, args: []string{"storage-0"}, want: exit.ExitUsage},
		"names of the groups":                       {given: unscheduled, args: []string{"-o", "name"}, want: exit.ExitNo, says: "processgroup/storage-"},
		"one field":                                 {given: unscheduled, args: []string{"-o", "jsonpath={.state}"}, want: exit.ExitNo, says: "blocked"},
		"a row per reason":                          {given: unscheduled, args: []string{"-o", "wide"}, want: exit.ExitNo, says: "SUBJECT"},
		"an unknown output":                         {given: up, args: []string{"-o", "xml"}, want: exit.ExitUsage},
		"the database does not answer":              {given: withoutAnswer, want: exit.ExitUnreachable, says: "fdb/sample: database does not answer: timed out  next: kubectl fdb status sample -n fdb --context test\n"},
		"a group, and the database does not report": {given: withoutAnswer, args: []string{"OTHER"}, want: exit.ExitUnreachable, says: "database does not answer"},
		"a live operator": {given: func(t *testing.T) *given {
			t.Helper()
			g := newGiven(t)
			g.gates = []plan.Check{{Question: "is no live operator managing this cluster?", Gate: plan.GateOperator, Evidence: "one is"}}
			return g
		}, want: exit.ExitNo, says: "G-OPERATOR: is no live operator managing this cluster? one is"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := tc.given(t)
			args := []string{"why", "sample"}
			for _, arg := range tc.args {
				args = append(args, g.named(arg))
			}
			if tc.stdin != "" {
				input := g.named(tc.stdin)
				g.input = &input
			}
			got := g.run(args...)
			if got != tc.want || !strings.Contains(g.out.String(), tc.says) {
				t.Errorf("exit code %d, want %d, and %q on stdout\nstdout: %s\nstderr: %s", got, tc.want, tc.says, &g.out, &g.err)
			}
		})
	}
}

// named puts the names of this cluster's pods in the place of POD and OTHER.
func (g *given) named(text string) string {
	pods := g.podsOf("storage")
	if len(pods) == 0 {
		return text
	}
	return strings.NewReplacer("POD", "pod/"+pods[1], "OTHER", strings.TrimPrefix(pods[0], "sample-")).Replace(text)
}

func unscheduled(t *testing.T) *given {
	t.Helper()
	g, _ := withoutNode(t)
	return g
}

func withoutAnswer(t *testing.T) *given {
	t.Helper()
	g := up(t)
	g.connect = func() (session.Session, error) { return mute{simulated{g.cluster, g}, nil}, nil }
	return g
}

// countingLooks counts the reads of the database.
type countingLooks struct {
	simulated
	requested *int
}

func (c countingLooks) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Database != 0 {
		*c.requested++
	}
	return c.simulated.Observe(ctx, into, facets)
}

func TestWhyReadsTheDatabaseOnce(t *testing.T) {
	g, _ := withoutNode(t)
	requested := 0
	g.connect = func() (session.Session, error) { return countingLooks{simulated{g.cluster, g}, &requested}, nil }
	g.run("why", "sample")
	if requested != 1 {
		t.Errorf("asked %d times", requested)
	}
}

func TestWhyChangesNothing(t *testing.T) {
	g, _ := withoutNode(t)
	acted := len(g.cluster.Acted)
	g.run("why", "sample")
	if len(g.cluster.Acted) != acted {
		t.Errorf("%v", g.cluster.Acted[acted:])
	}
}

func TestWhyWarnsOfMissingOrUnreadableNodes(t *testing.T) {
	tests := map[string]struct {
		hidden error
		want   string
	}{
		"the node was removed":         {want: "node lost-1 of some pods no longer exists"},
		"reading nodes is not allowed": {hidden: forbidden, want: "cannot determine whether nodes are ready: forbidden: list nodes: "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, pod := withoutNode(t)
			g.cluster.Pods[pod].Spec.NodeName = "lost-1"
			g.nodesHidden = tc.hidden
			g.run("why", "sample", "-o", "json")
			var v why.Report
			if err := json.Unmarshal(g.out.Bytes(), &v); err != nil {
				t.Fatal(err)
			}
			if len(v.Warnings) != 1 || !strings.HasPrefix(v.Warnings[0], tc.want) {
				t.Errorf("want %q, got %q", tc.want, v.Warnings)
			}
		})
	}
}
