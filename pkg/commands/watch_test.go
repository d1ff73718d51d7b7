package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestAWatchReconcilesSpecChangesUntilTerminated(t *testing.T) {
	w := &watched{given: up(t)}
	w.cluster.Acted = nil
	w.steps = []func(){
		func() {
			if len(w.cluster.Acted) > 0 {
				t.Errorf("a reconciled cluster was changed: %s", w.cluster.Acted[0].Describe())
			}
			w.cluster.Resource.Spec.ProcessCounts.Storage++
			w.cluster.Resource.Generation++
			w.ring(plan.ClusterResource)
		},
	}
	if code := w.run("--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s%s", code, &w.out, &w.err)
	}
	if len(w.cluster.Acted) == 0 || w.cluster.Resource.Status.Generations.Reconciled != w.cluster.Resource.Generation {
		t.Errorf("generation %d, reconciled %d: %s%s", w.cluster.Resource.Generation, w.cluster.Resource.Status.Generations.Reconciled, &w.out, &w.err)
	}
	if n := strings.Count(w.out.String(), "reconciled; waiting for changes"); n != 2 {
		t.Errorf("printed %d times that all is well, want before and after the change: %s", n, &w.out)
	}
	if !strings.Contains(w.out.String(), "sample: the watch ended after ") || !strings.HasSuffix(w.out.String(), "passes: signal: terminated\n") {
		t.Errorf("the last line: %s", &w.out)
	}
	if w.cluster.Locked() || !w.follower.stopped || w.follower.follows == 0 {
		t.Errorf("locked %t, followed %d times, stopped %t", w.cluster.Locked(), w.follower.follows, w.follower.stopped)
	}
}

// A command that names a removed process group must not find another one.
func TestAWatchNeverAddsARemovedProcessGroupAgain(t *testing.T) {
	w := &watched{given: newGiven(t)}
	replaceNewest := func() {
		id := newestOf(w.given, v1beta2.ProcessClassStateless)
		w.cluster.Resource.ProcessGroup(id).MarkForRemoval(w.cluster.Now())
		w.ring(plan.ClusterResource)
	}
	forget := func() { // the IDs of removed groups are kept until their exclusions have ended
		w.cluster.Tick(15 * time.Minute)
		w.ring(plan.Pods)
	}
	w.steps = []func(){replaceNewest, forget, replaceNewest, forget, replaceNewest, forget}
	if code := w.run("--yes"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &w.out, &w.err)
	}
	added := map[v1beta2.ProcessGroupID]int{}
	for _, g := range addedBy(w.given) {
		added[g.ID]++
	}
	if len(added) < 9+3 {
		t.Fatalf("added %v", added)
	}
	for id, n := range added {
		if n > 1 {
			t.Errorf("%s was added %d times", id, n)
		}
	}
}

// addedBy returns the process groups that were added, in their order.
func addedBy(g *given) []plan.NewGroup {
	var all []plan.NewGroup
	for _, a := range g.cluster.Acted {
		if add, is := a.(plan.AddGroups); is {
			all = append(all, add.Groups...)
		}
	}
	return all
}

func newestOf(g *given, class v1beta2.ProcessClass) (id v1beta2.ProcessGroupID) {
	for _, added := range addedBy(g) {
		if added.Class == class {
			id = added.ID
		}
	}
	return id
}

func TestAWatchOfANewClusterContinuesUntilItIsConfigured(t *testing.T) {
	w := &watched{given: newGiven(t)}
	if code := w.run("--yes"); code != exit.ExitDone || !w.cluster.Resource.Status.Configured {
		t.Errorf("exit code %d: %s%s", code, &w.out, &w.err)
	}
}

// A watch has no end, so no progress: on a terminal its waits are lines as in a log.
func TestAWatchOnATerminalPrintsItsWaits(t *testing.T) {
	w := &watched{given: newGiven(t)}
	w.terminal, w.columns = true, 200
	if code := w.run("--yes", "--color", "never"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s%s", code, &w.out, &w.err)
	}
	if !strings.Contains(w.out.String(), "waiting  0 of 3 pods for the first coordinators are running") || strings.Contains(w.out.String(), "so far") {
		t.Errorf("printed:\n%s", &w.out)
	}
}

func TestABlockedWatchReportsOnceAndContinuesWhenUnblocked(t *testing.T) {
	w := &watched{given: newGiven(t)}
	w.gates = slices.Clone(operatorLives)
	w.steps = []func(){func() {}, func() { w.ring(plan.Pods) }, func() { w.gates = nil; w.ring(plan.Pods) }}
	if code := w.run("--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d", code)
	}
	for _, line := range []string{"blocked: manual intervention required: G-OPERATOR", "blocked  G-OPERATOR"} {
		if n := strings.Count(w.out.String(), line); n != 1 {
			t.Errorf("printed %d times %q: %s", n, line, &w.out)
		}
	}
	if len(w.cluster.Acted) == 0 {
		t.Error("did nothing once the operator had ended")
	}
}

func TestAWatchWaitsWhileAnotherRunIsActive(t *testing.T) {
	w := &watched{given: newGiven(t), counts: longerThanBetweenPasses}
	w.cluster.LeaseHolder = "alice"
	w.steps = []func(){func() {}, func() {}, func() { w.cluster.LeaseHolder = "" }}
	if code := w.run("--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(w.out.String(), "waiting: another run is active: the lease is held by alice"); n != 1 {
		t.Errorf("printed it %d times: %s", n, &w.out)
	}
	if len(w.cluster.Acted) == 0 {
		t.Error("did nothing once alice had ended")
	}
}

func TestAWatchRetriesFailuresWithIncreasingBackoff(t *testing.T) {
	tests := map[string]error{
		"something went wrong":   errors.New("quota"),
		"no right":               forbidden,
		"the API server hangs":   &reconcile.UnreachableError{Err: errNoAnswer},
		"someone else's write":   conflict,
		"the context of a limit": context.DeadlineExceeded,
	}
	for name, problem := range tests {
		t.Run(name, func(t *testing.T) {
			w := &watched{given: newGiven(t), counts: longerThanBetweenPasses}
			w.cluster.Refuse = refuse("CreatePod", problem)
			var rests []time.Duration
			note := func() { rests = append(rests, w.timers[len(w.timers)-1]) }
			w.steps = []func(){note, note, note, func() { note(); w.cluster.Refuse = nil }}
			if code := w.run("--yes"); code != exit.ExitDone {
				t.Errorf("exit code %d", code)
			}
			if n := strings.Count(w.out.String(), "failed, will retry"); n != 1 {
				t.Errorf("printed it %d times: %s", n, &w.out)
			}
			for i := range rests[1:] {
				if rests[i+1] < rests[i]*3/2 {
					t.Errorf("rested %v", rests)
				}
			}
			if !strings.Contains(w.out.String(), "create pod") {
				t.Errorf("created no pods afterwards: %s", &w.out)
			}
		})
	}
}

func TestAFailedWatchRetriesEarlyOnlyIfTheResourceChanges(t *testing.T) {
	for what, hurries := range map[plan.Facet]bool{plan.ClusterResource: true, plan.Pods: false} {
		t.Run(what.String(), func(t *testing.T) {
			w := &watched{given: newGiven(t), counts: longerThanBetweenPasses}
			w.cluster.Refuse = refuse("CreatePod", errors.New("quota"))
			w.steps = []func(){func() {}, func() {}, func() { w.cluster.Refuse = nil; w.ring(what) }}
			w.run("--yes")
			third := slices.IndexFunc(w.timers, func(d time.Duration) bool { return d >= 8*time.Second })
			if after := w.timers[third+1]; (after <= pace.DefaultInterval) != hurries {
				t.Errorf("rested for another %s after the change; all timers %v", after, w.timers)
			}
		})
	}
}

func TestReconcileWatchExitCodesOnSignals(t *testing.T) {
	tests := map[string]struct {
		signal os.Signal
		kept   error
		want   int
		says   string
	}{
		"SIGTERM is how a watch is meant to end": {signal: syscall.SIGTERM, want: exit.ExitDone, says: "signal: terminated"},
		"Ctrl-C":                                 {signal: os.Interrupt, want: exit.ExitInterrupted, says: "Ctrl-C"},
		"SIGTERM, and the Lease could not be released": {signal: syscall.SIGTERM, kept: errors.New("too many requests"), want: exit.ExitTerminated, says: "too many requests"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGiven(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			g.endErr = tc.kept
			g.cluster.Refuse = func(a plan.Action) error {
				if plan.KindOf(a) == "ApplyConfigMap" {
					cancel(&exit.InterruptedError{Signal: tc.signal})
				}
				return nil
			}
			code := g.runIn(ctx, "reconcile", "sample", "--yes", "--watch")
			if code != tc.want || !strings.Contains(g.out.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s%s", code, tc.want, tc.says, &g.out, &g.err)
			}
			if last := g.cluster.Acted[len(g.cluster.Acted)-1]; plan.KindOf(last) != "ApplyConfigMap" {
				t.Errorf("the action that ran was not the last: %s", last.Describe())
			}
			if g.cluster.Locked() || !g.follower.stopped {
				t.Errorf("locked %t, follower stopped %t", g.cluster.Locked(), g.follower.stopped)
			}
		})
	}
}

// removedLater is a session whose cluster is deleted at some time.
type removedLater struct {
	session.Session
	removed *bool
}

func (s removedLater) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if *s.removed {
		return &live.NotFoundError{}
	}
	return s.Session.Observe(ctx, into, facets)
}

func TestAWatchEndsWhenItsClusterIsDeleted(t *testing.T) {
	w := &watched{given: up(t)}
	removed := false
	w.connect = func() (session.Session, error) { return removedLater{simulated{w.cluster, w.given}, &removed}, nil }
	w.steps = []func(){func() { removed = true; w.ring(plan.ClusterResource) }}
	if code := w.run("--yes"); code != exit.ExitDone || !strings.HasSuffix(w.out.String(), ": the cluster was deleted\n") {
		t.Errorf("exit code %d: %s%s", code, &w.out, &w.err)
	}
}

func TestAWatchEndsWhenItsClusterIsRecreated(t *testing.T) {
	w := &watched{given: up(t)}
	w.steps = []func(){func() { remake(w.cluster.Resource); grow(w.given); w.ring(plan.ClusterResource) }}
	acted := len(w.cluster.Acted)
	if code := w.run("--yes"); code != exit.ExitDone || !strings.HasSuffix(w.out.String(), ": the cluster was deleted\n") {
		t.Errorf("exit code %d: %s%s", code, &w.out, &w.err)
	}
	if len(w.cluster.Acted) != acted {
		t.Errorf("did %v", w.cluster.Acted[acted:])
	}
}

func TestAFailedLeaseReleaseDoesNotEndAWatch(t *testing.T) {
	w := &watched{given: newGiven(t), counts: longerThanBetweenPasses}
	w.endErr = errors.New("release the Lease: too many requests")
	w.steps = []func(){func() {}, func() { w.endErr = nil }}
	if code := w.run("--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s%s", code, &w.out, &w.err)
	}
	if !strings.Contains(w.out.String(), "failed, will retry: release the Lease") {
		t.Errorf("stdout: %s", &w.out)
	}
}

func TestWatchJSONLinesCarryTheirPassNumber(t *testing.T) {
	w := &watched{given: up(t)}
	w.steps = []func(){func() { w.ring(plan.Pods) }}
	w.run("--yes", "-o", "json")
	type line struct {
		Event, Ending, Kind, Reason string
		Pass, Passes, ExitCode      int
		Changed                     bool
		Facets                      []string
	}
	var lines []line
	for text := range bytes.Lines(w.out.Bytes()) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		lines = append(lines, l)
	}
	last := lines[len(lines)-1]
	if last.Kind != "ReconcileResult" || last.Passes != 2 || last.ExitCode != 0 || last.Reason != "signal: terminated" {
		t.Errorf("the last line is %+v", last)
	}
	pass := 1
	for _, l := range lines[:len(lines)-1] {
		if l.Event == "started" && l.Pass == 2 {
			pass = 2
		}
		if l.Pass != pass || (l.Event == "wait-started" && l.Ending != "settled") {
			t.Errorf("in pass %d: %+v", pass, l)
		}
	}
	woken := slices.IndexFunc(lines, func(l line) bool { return l.Event == "wait-ended" })
	if woken < 0 || !lines[woken].Changed || !slices.Equal(lines[woken].Facets, []string{"pods"}) {
		t.Errorf("no line has the reason for the end of the interval: %+v", lines)
	}
}

func TestAWatchServesMetrics(t *testing.T) {
	w := &watched{given: up(t)}
	var address string
	w.steps = []func(){func() {
		output := regexp.MustCompile(`metrics on (http://127\.0\.0\.1:\d+)/metrics`).FindStringSubmatch(w.err.String())
		if output == nil {
			t.Fatalf("stderr does not say where: %s", &w.err)
		}
		address = output[1]
		for path, want := range map[string]string{"/metrics": `kubectl_fdb_passes_total{fdb_cluster="sample",fdb_namespace="fdb",outcome="done"} 1`, "/healthz": "ok", "/readyz": "ok"} {
			if text := ask(t, address+path); !strings.Contains(text, want) {
				t.Errorf("%s: %s", path, text)
			}
		}
		w.ring(plan.Pods)
	}}
	w.run("--yes", "--metrics-addr", "127.0.0.1:0")
	if answer, err := http.Get(address + "/healthz"); err == nil {
		answer.Body.Close()
		t.Error("the server outlived the watch")
	}
}

func TestWatchMetricsIncludeTheOperationOfAnotherRun(t *testing.T) {
	w := &watched{given: up(t)}
	other := reconcile.Operation{ID: "run9", Command: "drain node-3 -c sample --wait", Holder: "ann@elsewhere pid 7", User: "ann@elsewhere", Since: w.clock.Now(), Seen: w.clock.Now()}
	text, err := json.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
	w.objects = append(w.objects, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fdb", Name: live.LeaseName("sample"), Annotations: map[string]string{live.AnnotationOperation: string(text)},
	}})
	w.steps = []func(){func() {
		address := regexp.MustCompile(`metrics on (http://127\.0\.0\.1:\d+)/metrics`).FindStringSubmatch(w.err.String())[1]
		const want = `kubectl_fdb_operation_active{command="drain",fdb_cluster="sample",fdb_namespace="fdb",owner="ann@elsewhere",phase="pass"} 1`
		if page := ask(t, address+"/metrics"); !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
		w.ring(plan.Pods)
	}}
	w.run("--yes", "--metrics-addr", "127.0.0.1:0")
}

func ask(t *testing.T, url string) string {
	t.Helper()
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAWatchReportsWhatItCannotFollowOncePerInterval(t *testing.T) {
	w := &watched{given: up(t)}
	w.steps = []func(){func() {
		w.follower.problem(plan.Nodes, forbidden)
		w.follower.problem(plan.Nodes, forbidden)
		w.cluster.Tick(session.ProblemInterval)
		w.follower.problem(plan.Nodes, forbidden)
		w.ring(plan.Pods)
	}}
	w.run("--yes")
	if n := strings.Count(w.err.String(), "watching nodes: forbidden"); n != 2 || !strings.Contains(w.err.String(), "changes are only seen every 1m0s") {
		t.Errorf("printed it %d times: %s", n, &w.err)
	}
}

func TestAWatchFollowsOnlyTheFacetsThatItsStagesRead(t *testing.T) {
	w := &watched{given: up(t)}
	w.run("--yes", "--only", "AddServices")
	if want := plan.ClusterResource | plan.Services; w.follower.facets != want {
		t.Errorf("follows %s, want %s", w.follower.facets, want)
	}
}
