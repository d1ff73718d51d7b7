package clusters_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestEventsExitCodes(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
		says string
		not  string
	}{
		"all":               {args: []string{"sample"}, want: exit.ExitDone, says: "pod/sample-storage-1", not: "other"},
		"recent ones":       {args: []string{"--since", "5m"}, want: exit.ExitDone, says: "pod/sample-storage-1", not: "foundationdbcluster/sample"},
		"warnings":          {args: []string{"--types", "warning"}, want: exit.ExitDone, says: "foundationdbcluster/sample", not: "sample-storage-1"},
		"nothing":           {args: []string{"--since", "1s"}, want: exit.ExitDone, says: "no matching events found for cluster sample"},
		"their names":       {args: []string{"-o", "name", "--types=Normal"}, want: exit.ExitDone, says: "pod/sample-storage-1\n"},
		"a document":        {args: []string{"-o", "json"}, want: exit.ExitDone, says: `"reason": "Because"`},
		"an unknown type":   {args: []string{"--types", "Gossip"}, want: exit.ExitUsage, says: "must be one of Normal, Warning"},
		"the future":        {args: []string{"--since", "-1m"}, want: exit.ExitUsage},
		"an unknown output": {args: []string{"-o", "xml"}, want: exit.ExitUsage},
		"an unknown one":    {args: []string{"absent"}, want: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			g.AddEvent("Pod", "sample-storage-1", corev1.EventTypeNormal, time.Minute)
			g.AddEvent("FoundationDBCluster", "sample", corev1.EventTypeWarning, 10*time.Minute)
			g.AddEvent("Pod", "other-storage-1", corev1.EventTypeNormal, 0)
			got := g.Run(append([]string{"events"}, tc.args...)...)
			output := g.Out.String() + g.Err.String()
			if got != tc.want || !strings.Contains(output, tc.says) || (tc.not != "" && strings.Contains(output, tc.not)) {
				t.Errorf("exit code %d, want %d, and %q, and not %q\n%s", got, tc.want, tc.says, tc.not, output)
			}
		})
	}
}

func TestEventsReportsAForbiddenListOfEvents(t *testing.T) {
	g := commandstest.NewGiven(t)
	env := g.Environment()
	env.Client = func() (client.Client, error) {
		return interceptor.NewClient(g.Client().(client.WithWatch), interceptor.Funcs{ //nolint:forcetypeassert // the fake can watch
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				if _, ok := list.(*corev1.EventList); ok {
					return commandstest.ErrForbidden
				}
				return c.List(ctx, list, opts...)
			},
		}), nil
	}
	if code := commands.Run(t.Context(), env, []string{"events", "sample"}); code != exit.ExitForbidden || !strings.Contains(g.Err.String(), "list events in namespace fdb") {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}

func TestWatchingEventsShowsEachEventOnce(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.AddEvent("Pod", "sample-storage-1", corev1.EventTypeNormal, 0)
	ctx, cancel := context.WithCancelCause(t.Context())
	looks := 0
	g.Clock.OnTimer = func(time.Duration) bool {
		looks++
		switch looks {
		case 2:
			g.AddEvent("Pod", "sample-log-1", corev1.EventTypeWarning, 0)
		case 4:
			cancel(&exit.InterruptedError{Signal: os.Interrupt})
			return true
		}
		return false
	}
	if code := g.RunIn(ctx, "events", "sample", "-w", "-o", "json"); code != exit.ExitInterrupted {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
	if lines := strings.Split(strings.TrimSpace(g.Out.String()), "\n"); len(lines) != 2 || !strings.Contains(lines[1], "sample-log-1") || strings.Contains(lines[1], "sample-storage-1") {
		t.Errorf("want a line per event: %s", &g.Out)
	}
}

func TestEventsOfAnotherClusterOfTheSameNameAreOmitted(t *testing.T) {
	g := commandstest.Up(t)
	g.AddEvent("FoundationDBCluster", "sample", corev1.EventTypeWarning, time.Minute)
	g.AddEvent("Pod", "sample-storage-1", corev1.EventTypeWarning, time.Hour)
	about := g.Objects[len(g.Objects)-2].(*corev1.Event)
	about.InvolvedObject.UID = "1"
	for _, args := range [][]string{{"events", "sample"}, {"describe", "sample"}} {
		if g.Run(args...); !strings.Contains(g.Out.String(), "it happened") {
			t.Errorf("%v omits an event of the cluster: %s%s", args, &g.Out, &g.Err)
		}
	}
	commandstest.Remake(g.Cluster.Resource)
	g.Cluster.Resource.CreationTimestamp = metav1.NewTime(g.Cluster.Now().Add(-2 * time.Minute))
	for _, args := range [][]string{{"events", "sample"}, {"describe", "sample"}} {
		if g.Run(args...); strings.Contains(g.Out.String(), "it happened") {
			t.Errorf("%v shows an event of the deleted cluster: %s", args, &g.Out)
		}
	}
}

func TestEventsHaveCommandAndUserOnlyInWideTables(t *testing.T) {
	g := commandstest.Up(t)
	g.KeepEvents()
	for name, tc := range map[string]struct {
		args string
		want bool
	}{
		"the table":    {args: "events sample"},
		"a wide table": {args: "events sample -o wide", want: true},
		"JSON":         {args: "events sample -o json", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			g.Run(strings.Fields(tc.args)...)
			if !strings.Contains(g.Out.String(), "create pod sample-") {
				t.Errorf("the actions are missing: %s", &g.Out)
			}
			for _, part := range []string{"kubectl fdb reconcile sample", "me@here pid 1", "run run1"} {
				if strings.Contains(g.Out.String(), part) != tc.want {
					t.Errorf("%s: %t: %s", part, !tc.want, &g.Out)
				}
			}
		})
	}
}
