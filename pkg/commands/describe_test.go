package commands

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/describe"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// witnessed is a cluster with an unschedulable pod and its events.
func witnessed(t *testing.T) (g *given, pod string) {
	t.Helper()
	g, pod = withoutNode(t)
	g.objects = append(g.objects, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e1", Namespace: "fdb"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod},
		Type: "Warning", Reason: "FailedScheduling", Message: "0/5 nodes are available", Count: 7, LastTimestamp: metav1.NewTime(g.cluster.Now().Add(-90 * time.Second)),
	}, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e2", Namespace: "fdb"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "another"},
		Type: "Normal", Reason: "Started", Message: "of no interest",
	})
	return g, pod
}

func TestDescribePrintsClustersAndProcessGroups(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
	}{
		"a-process-group": {args: []string{"describe", "pg", "sample", "POD"}},
		"one-that-is-up":  {args: []string{"describe", "process-group", "sample", "OTHER"}},
		"a-cluster":       {args: []string{"describe", "sample"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, _ := witnessed(t)
			for i, arg := range tc.args {
				tc.args[i] = g.named(arg)
			}
			if code := g.run(tc.args...); code != tc.want {
				t.Errorf("exit code %d: %s", code, &g.err)
			}
			golden.RequireEqual(t, g.out.Bytes())
		})
	}
}

func TestDescribeOutputAndExitCodes(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
		says string
	}{
		"its name":                          {args: []string{"pg", "sample", "POD", "-o", "name"}, says: "processgroup/storage-"},
		"one field":                         {args: []string{"pg", "sample", "POD", "-o", "jsonpath={.pod.phase}"}, says: "Pending"},
		"by the ID alone":                   {args: []string{"pg", "OTHER"}, says: "fdb/sample  storage-"},
		"the state of a cluster":            {args: []string{"sample", "-o", "jsonpath={.why.state}"}, says: "blocked"},
		"none is named":                     {args: []string{"pg"}, want: exit.ExitUsage},
		"an unknown one":                    {args: []string{"pg", "sample", "storage-0"}, want: exit.ExitUsage},
		"two at a time":                     {args: []string{"pg", "POD", "OTHER"}, want: exit.ExitUsage},
		"two clusters":                      {args: []string{"sample", "other"}, want: exit.ExitUsage},
		"a process group after its cluster": {args: []string{"sample", "OTHER"}, says: "fdb/sample  storage-"},
		"one of the cluster of -c":          {args: []string{"-c", "sample", "OTHER"}, says: "fdb/sample  storage-"},
		"three arguments":                   {args: []string{"sample", "POD", "OTHER"}, want: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, _ := witnessed(t)
			args := []string{"describe"}
			for _, arg := range tc.args {
				args = append(args, g.named(arg))
			}
			if got := g.run(args...); got != tc.want || !strings.Contains(g.out.String(), tc.says) {
				t.Errorf("exit code %d, want %d, and %q on stdout\nstdout: %s\nstderr: %s", got, tc.want, tc.says, &g.out, &g.err)
			}
		})
	}
}

func TestDescribeWarnsOfWhatItCannotRead(t *testing.T) {
	g, pod := witnessed(t)
	g.eventsHidden = forbidden
	g.connect = func() (session.Session, error) { return mute{simulated{g.cluster, g}, nil}, nil }
	if code := g.run("describe", "pg", "sample", pod, "-o", "json"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.err)
	}
	var v describe.GroupDescription
	if err := json.Unmarshal(g.out.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	output := strings.Join(v.Warnings, "\n")
	if v.Events != nil || v.Processes != nil || v.Group.Roles != nil ||
		!strings.Contains(output, "events could not be read: forbidden: ") || !strings.Contains(output, "no answer from the database") {
		t.Errorf("events %v, processes %v, roles %v, warnings %q", v.Events, v.Processes, v.Group.Roles, v.Warnings)
	}
}
