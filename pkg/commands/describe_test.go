package commands

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
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
		"a tree of a process group":         {args: []string{"sample", "OTHER", "--tree"}, want: exit.ExitUsage, says: "--tree requires a cluster"},
		"problems without a tree":           {args: []string{"sample", "--unhealthy"}, want: exit.ExitUsage, says: "--unhealthy requires --tree"},
		"three arguments":                   {args: []string{"sample", "POD", "OTHER"}, want: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g, _ := witnessed(t)
			args := []string{"describe"}
			for _, arg := range tc.args {
				args = append(args, g.named(arg))
			}
			if got := g.run(args...); got != tc.want || !strings.Contains(g.out.String()+g.err.String(), tc.says) {
				t.Errorf("exit code %d, want %d, and %q\nstdout: %s\nstderr: %s", got, tc.want, tc.says, &g.out, &g.err)
			}
		})
	}
}

func TestDescribeNamesTheFinalizerThatHoldsAnObject(t *testing.T) {
	hold := func(o metav1.Object, g *given) {
		o.SetDeletionTimestamp(&metav1.Time{Time: g.cluster.Now().Add(-time.Hour)})
		o.SetFinalizers([]string{"example.com/hold"})
	}
	tests := map[string]struct {
		given func(*given, *v1beta2.ProcessGroupStatus)
		says  []string
	}{
		"a pod": {func(g *given, group *v1beta2.ProcessGroupStatus) {
			hold(g.cluster.Pods[group.PodName(g.cluster.Resource)], g)
		}, []string{"does not terminate, waits for its finalizers example.com/hold; the controller that set it has to remove it"}},
		"a PVC that no pod uses": {func(g *given, group *v1beta2.ProcessGroupStatus) {
			delete(g.cluster.Pods, group.PodName(g.cluster.Resource))
			hold(g.cluster.Volumes[group.PVCName(g.cluster.Resource)], g)
		}, []string{"-data, which is being deleted", "no pod uses it any more; held by finalizer example.com/hold"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := healthy(t)
			id := g.named("OTHER")
			tc.given(g, g.cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(id)))
			code := g.run("describe", "pg", "sample", id)
			for _, want := range tc.says {
				if code != exit.ExitDone || !strings.Contains(g.out.String(), want) {
					t.Errorf("exit code %d, want %q: %s%s", code, want, &g.out, &g.err)
				}
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
