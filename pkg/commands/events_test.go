package commands

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func (g *given) addEvent(kind, name, eventType string, ago time.Duration) {
	g.objects = append(g.objects, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "e-" + strings.ToLower(kind+"-"+name), Namespace: "fdb", UID: types.UID(kind + name)},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: "fdb", Name: name},
		Type:           eventType, Reason: "Because", Message: "it happened", Count: 1,
		LastTimestamp: metav1.NewTime(g.cluster.Now().Add(-ago)),
	})
}

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
			g := newGiven(t)
			g.addEvent("Pod", "sample-storage-1", corev1.EventTypeNormal, time.Minute)
			g.addEvent("FoundationDBCluster", "sample", corev1.EventTypeWarning, 10*time.Minute)
			g.addEvent("Pod", "other-storage-1", corev1.EventTypeNormal, 0)
			got := g.run(append([]string{"events"}, tc.args...)...)
			output := g.out.String() + g.err.String()
			if got != tc.want || !strings.Contains(output, tc.says) || (tc.not != "" && strings.Contains(output, tc.not)) {
				t.Errorf("exit code %d, want %d, and %q, and not %q\n%s", got, tc.want, tc.says, tc.not, output)
			}
		})
	}
}

func TestEventsReportsAForbiddenListOfEvents(t *testing.T) {
	g := newGiven(t)
	env := g.environment()
	env.Client = func() (client.Client, error) {
		return interceptor.NewClient(g.client().(client.WithWatch), interceptor.Funcs{ //nolint:forcetypeassert // the fake can watch
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				if _, ok := list.(*corev1.EventList); ok {
					return forbidden
				}
				return c.List(ctx, list, opts...)
			},
		}), nil
	}
	if code := Run(t.Context(), env, []string{"events", "sample"}); code != exit.ExitForbidden || !strings.Contains(g.err.String(), "list events in namespace fdb") {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
}

func TestWatchingEventsShowsEachEventOnce(t *testing.T) {
	g := newGiven(t)
	g.addEvent("Pod", "sample-storage-1", corev1.EventTypeNormal, 0)
	ctx, cancel := context.WithCancelCause(t.Context())
	looks := 0
	g.clock.onTimer = func(time.Duration) bool {
		looks++
		switch looks {
		case 2:
			g.addEvent("Pod", "sample-log-1", corev1.EventTypeWarning, 0)
		case 4:
			cancel(&exit.InterruptedError{Signal: os.Interrupt})
			return true
		}
		return false
	}
	if code := g.runIn(ctx, "events", "sample", "-w", "-o", "json"); code != exit.ExitInterrupted {
		t.Errorf("exit code %d: %s", code, &g.err)
	}
	if lines := strings.Split(strings.TrimSpace(g.out.String()), "\n"); len(lines) != 2 || !strings.Contains(lines[1], "sample-log-1") || strings.Contains(lines[1], "sample-storage-1") {
		t.Errorf("want a line per event: %s", &g.out)
	}
}

func TestEventsOfAnotherClusterOfTheSameNameAreOmitted(t *testing.T) {
	g := up(t)
	g.addEvent("FoundationDBCluster", "sample", corev1.EventTypeWarning, time.Minute)
	g.addEvent("Pod", "sample-storage-1", corev1.EventTypeWarning, time.Hour)
	about := g.objects[len(g.objects)-2].(*corev1.Event)
	about.InvolvedObject.UID = "1"
	for _, args := range [][]string{{"events", "sample"}, {"describe", "sample"}} {
		if g.run(args...); !strings.Contains(g.out.String(), "it happened") {
			t.Errorf("%v omits an event of the cluster: %s%s", args, &g.out, &g.err)
		}
	}
	remake(g.cluster.Resource)
	g.cluster.Resource.CreationTimestamp = metav1.NewTime(g.cluster.Now().Add(-2 * time.Minute))
	for _, args := range [][]string{{"events", "sample"}, {"describe", "sample"}} {
		if g.run(args...); strings.Contains(g.out.String(), "it happened") {
			t.Errorf("%v shows an event of the deleted cluster: %s", args, &g.out)
		}
	}
}
