package run_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/runbook"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// kept is a cluster whose API server keeps what commands write.
type kept struct {
	*commandstest.Given
	api client.Client
}

func newKept(t *testing.T) *kept {
	t.Helper()
	g := commandstest.Up(t)
	return &kept{Given: g, api: g.Client()}
}

// runKept runs a command line as another process of the same user would.
func (k *kept) runKept(ctx context.Context, args ...string) int {
	k.T.Helper()
	k.Out.Reset()
	k.Err.Reset()
	env := k.Environment()
	env.Client = func() (client.Client, error) { return k.api, nil }
	return commands.Run(ctx, env, args)
}

func (k *kept) state() (*corev1.ConfigMap, *runbook.Progress) {
	k.T.Helper()
	found := &corev1.ConfigMap{}
	if err := k.api.Get(k.T.Context(), types.NamespacedName{Namespace: "fdb", Name: "change"}, found); err != nil {
		k.T.Fatal(err)
	}
	p, err := runbook.Decode([]byte(found.Data["state.json"]))
	if err != nil {
		k.T.Fatal(err)
	}
	return found, p
}

func TestRunbookStateInAConfigMapContinuesOnAnotherMachine(t *testing.T) {
	k := newKept(t)
	k.Cluster.Resource.Spec.ProcessCounts.Storage = 4
	k.Cluster.Resource.Generation++
	file := commandstest.Book(t, approvedSteps)
	if code := k.runKept(t.Context(), "run", file, "--state", "configmap/change"); code != exit.ExitUnconfirmed {
		t.Fatalf("exit code %d: %s%s", code, &k.Out, &k.Err)
	}
	found, p := k.state()
	if got, want := statuses(p), "plan=done approval=failed apply=pending healthy=pending"; got != want || len(found.BinaryData["saved.plan.gz"]) == 0 {
		t.Fatalf("%s, want %s; %d saved outputs", got, want, len(found.BinaryData))
	}
	if len(found.Annotations) > 0 {
		t.Errorf("an invocation that ended holds the state: %v", found.Annotations)
	}
	hint := regexp.MustCompile(`--state configmap/change --approve (\S+) -n fdb`).FindStringSubmatch(k.Err.String())
	if hint == nil {
		t.Fatalf("no command to continue: %s", &k.Err)
	}
	k.Env["XDG_STATE_HOME"] = t.TempDir() // another machine has no file of the first one
	if code := k.runKept(t.Context(), "run", file, "--state", "configmap/change", "--approve", hint[1]); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &k.Out, &k.Err)
	}
	if _, p := k.state(); p.Outcome != runbook.Succeeded {
		t.Errorf("outcome %s", p.Outcome)
	}
	if n := len(k.Cluster.Resource.Status.ProcessGroups); n != 10 {
		t.Errorf("%d process groups", n)
	}
}

func TestASecondRunWithTheSameConfigMapIsRefused(t *testing.T) {
	k := newKept(t)
	file := commandstest.Book(t, "- {name: a, wait: {for: 5s}}\n- {name: b, check: 'status ${cluster}'}\n")
	second, during := -1, ""
	k.Clock.OnTimer = func(time.Duration) bool { // while the first run waits
		if second < 0 {
			other := &kept{Given: &commandstest.Given{T: t, Cluster: k.Cluster, Env: k.Env, Clock: &commandstest.ClusterClock{Cluster: k.Cluster}}, api: k.api}
			second = other.runKept(t.Context(), "run", file, "--state", "configmap/change")
			during = other.Err.String()
		}
		return false
	}
	if code := k.runKept(t.Context(), "run", file, "--state", "configmap/change"); code != exit.ExitDone {
		t.Errorf("the first run: exit code %d: %s%s", code, &k.Out, &k.Err)
	}
	if second != exit.ExitConflict || !strings.Contains(during, "the state configmap/change is in use by me@here pid 1 run run1") || strings.Contains(during, "[1/2]") {
		t.Errorf("the second run: exit code %d: %s", second, during)
	}
}

func TestARunbookEndsIfItsStateConfigMapWasChanged(t *testing.T) {
	k := newKept(t)
	changed := false
	k.Clock.OnTimer = func(time.Duration) bool {
		if !changed {
			changed = true
			found, _ := k.state()
			found.Labels = map[string]string{"by": "another"}
			if err := k.api.Update(t.Context(), found); err != nil {
				t.Error(err)
			}
		}
		return false
	}
	code := k.runKept(t.Context(), "run", commandstest.Book(t, "- {name: a, wait: {for: 5s}}\n- {name: b, check: 'status ${cluster}'}\n"), "--state", "configmap/change")
	if code != exit.ExitConflict || strings.Contains(k.Err.String(), "[2/2]") {
		t.Errorf("exit code %d: %s%s", code, &k.Out, &k.Err)
	}
}

func TestRunbookStateOfAKilledRunContinuesAfterItsHoldExpires(t *testing.T) {
	k := newKept(t)
	file := commandstest.Book(t, "- {name: a, check: 'status ${cluster}'}\n- {name: b, check: 'status missing'}\n")
	if code := k.runKept(t.Context(), "run", file, "--state", "configmap/change"); code != exit.ExitUsage {
		t.Fatalf("exit code %d: %s%s", code, &k.Out, &k.Err)
	}
	found, _ := k.state()
	found.Annotations = map[string]string{"kubectl-fdb/runbook-holder": "bob@laptop", "kubectl-fdb/runbook-renewed": k.Cluster.Now().UTC().Format(time.RFC3339)}
	if err := k.api.Update(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	for _, after := range []time.Duration{0, 58 * time.Second} { // the annotation has whole seconds
		k.Cluster.Tick(after)
		if code := k.runKept(t.Context(), "run", file, "--state", "configmap/change"); code != exit.ExitConflict || !strings.Contains(k.Err.String(), "in use by bob@laptop") {
			t.Errorf("after %s: exit code %d: %s", after, code, &k.Err)
		}
	}
	k.Cluster.Tick(2 * time.Second)
	if code := k.runKept(t.Context(), "run", file, "--state", "configmap/change"); code != exit.ExitUsage || !strings.Contains(k.Err.String(), "[2/2] b: ") {
		t.Errorf("exit code %d: %s", code, &k.Err)
	}
}

func TestRunRefusesAConfigMapThatIsNotARunbookState(t *testing.T) {
	for name, row := range map[string]struct {
		data map[string]string
		want string
	}{
		"another object":  {map[string]string{"key": "value"}, "it is not the state of a run"},
		"truncated":       {map[string]string{"state.json": `{"apiVersion":"runbook.kubectl-`}, "invalid state: unexpected end of JSON input"},
		"another version": {map[string]string{"state.json": `{"apiVersion":"runbook.kubectl-fdb/v9","kind":"RunbookState"}`}, `invalid state: must be a RunbookState of runbook.kubectl-fdb/v1, is "RunbookState" of "runbook.kubectl-fdb/v9"`},
	} {
		k := newKept(t)
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: "change"}, Data: row.data}
		if err := k.api.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if code := k.runKept(t.Context(), "run", commandstest.Book(t, "- {name: a, check: 'status ${cluster}'}\n"), "--state", "configmap/change"); code != exit.ExitUsage || !strings.Contains(k.Err.String(), row.want) {
			t.Errorf("%s: exit code %d: %s", name, code, &k.Err)
		}
		now := &corev1.ConfigMap{}
		if err := k.api.Get(t.Context(), client.ObjectKeyFromObject(o), now); err != nil || now.ResourceVersion != o.ResourceVersion {
			t.Errorf("%s: the object was written: %v", name, err)
		}
	}
	g := commandstest.NewGiven(t)
	if code := g.Run("run", commandstest.Book(t, "- {name: a, check: 'status ${cluster}'}\n"), "--state", "configmap/Not_A_Name"); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "invalid --state configmap/Not_A_Name: ") {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}
