package clusters_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/describe"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// witnessed is a cluster with an unschedulable pod and its events.
func witnessed(t *testing.T) (g *commandstest.Given, pod string) {
	t.Helper()
	g, pod = commandstest.WithoutNode(t)
	g.Objects = append(g.Objects, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e1", Namespace: "fdb"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod},
		Type: "Warning", Reason: "FailedScheduling", Message: "0/5 nodes are available", Count: 7, LastTimestamp: metav1.NewTime(g.Cluster.Now().Add(-90 * time.Second)),
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
				tc.args[i] = g.Named(arg)
			}
			if code := g.Run(tc.args...); code != tc.want {
				t.Errorf("exit code %d: %s", code, &g.Err)
			}
			golden.RequireEqual(t, g.Out.Bytes())
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
		"a tree of a process group":         {args: []string{"sample", "OTHER", "--tree"}, want: exit.ExitUsage, says: "--tree requires a cluster"},
		"problems without a tree":           {args: []string{"sample", "--unhealthy"}, want: exit.ExitUsage, says: "--unhealthy requires --tree"},
		"three arguments":                   {args: []string{"sample", "POD", "OTHER"}, want: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, _ := witnessed(t)
			args := []string{"describe"}
			for _, arg := range tc.args {
				args = append(args, g.Named(arg))
			}
			if got := g.Run(args...); got != tc.want || !strings.Contains(g.Out.String()+g.Err.String(), tc.says) {
				t.Errorf("exit code %d, want %d, and %q\nstdout: %s\nstderr: %s", got, tc.want, tc.says, &g.Out, &g.Err)
			}
		})
	}
}

func TestDescribeNamesTheFinalizerThatHoldsAnObject(t *testing.T) {
	hold := func(o metav1.Object, g *commandstest.Given) {
		o.SetDeletionTimestamp(&metav1.Time{Time: g.Cluster.Now().Add(-time.Hour)})
		o.SetFinalizers([]string{"example.com/hold"})
	}
	tests := map[string]struct {
		given func(*commandstest.Given, *v1beta2.ProcessGroupStatus)
		says  []string
	}{
		"a pod": {func(g *commandstest.Given, group *v1beta2.ProcessGroupStatus) {
			hold(g.Cluster.Pods[group.PodName(g.Cluster.Resource)], g)
		}, []string{"does not terminate, waits for its finalizers example.com/hold; the controller that set it has to remove it"}},
		"a PVC that no pod uses": {func(g *commandstest.Given, group *v1beta2.ProcessGroupStatus) {
			delete(g.Cluster.Pods, group.PodName(g.Cluster.Resource))
			hold(g.Cluster.Volumes[group.PVCName(g.Cluster.Resource)], g)
		}, []string{"-data, which is being deleted", "no pod uses it any more; held by finalizer example.com/hold"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Healthy(t)
			id := g.Named("OTHER")
			tc.given(g, g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)))
			code := g.Run("describe", "pg", "sample", id)
			for _, want := range tc.says {
				if code != exit.ExitDone || !strings.Contains(g.Out.String(), want) {
					t.Errorf("exit code %d, want %q: %s%s", code, want, &g.Out, &g.Err)
				}
			}
		})
	}
}

func TestDescribeWarnsOfWhatItCannotRead(t *testing.T) {
	g, pod := witnessed(t)
	g.EventsHidden = commandstest.ErrForbidden
	g.Connect = func() (session.Session, error) {
		return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
	}
	if code := g.Run("describe", "pg", "sample", pod, "-o", "json"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	var v describe.GroupDescription
	if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	output := strings.Join(v.Warnings, "\n")
	if v.Events != nil || v.Processes != nil || v.Group.Roles != nil ||
		!strings.Contains(output, "events could not be read: forbidden: ") || !strings.Contains(output, "no answer from the database") {
		t.Errorf("events %v, processes %v, roles %v, warnings %q", v.Events, v.Processes, v.Group.Roles, v.Warnings)
	}
}
