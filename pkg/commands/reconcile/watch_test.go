package reconcile_test

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
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestAWatchReconcilesSpecChangesUntilTerminated(t *testing.T) {
	w := &commandstest.Watched{Given: commandstest.Up(t)}
	w.Cluster.Acted = nil
	w.Steps = []func(){
		func() {
			if len(w.Cluster.Acted) > 0 {
				t.Errorf("a reconciled cluster was changed: %s", w.Cluster.Acted[0].Describe())
			}
			w.Cluster.Resource.Spec.ProcessCounts.Storage++
			w.Cluster.Resource.Generation++
			w.Ring(plan.ClusterResource)
		},
	}
	if code := w.Run("--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s%s", code, &w.Out, &w.Err)
	}
	if len(w.Cluster.Acted) == 0 || w.Cluster.Resource.Status.Generations.Reconciled != w.Cluster.Resource.Generation {
		t.Errorf("generation %d, reconciled %d: %s%s", w.Cluster.Resource.Generation, w.Cluster.Resource.Status.Generations.Reconciled, &w.Out, &w.Err)
	}
	if n := strings.Count(w.Out.String(), "reconciled; waiting for changes"); n != 2 {
		t.Errorf("printed %d times that all is well, want before and after the change: %s", n, &w.Out)
	}
	if !strings.Contains(w.Out.String(), "sample: the watch ended after ") || !strings.HasSuffix(w.Out.String(), "passes: signal: terminated\n") {
		t.Errorf("the last line: %s", &w.Out)
	}
	if w.Cluster.Locked() || !w.Follower.Stopped || w.Follower.Follows == 0 {
		t.Errorf("locked %t, followed %d times, stopped %t", w.Cluster.Locked(), w.Follower.Follows, w.Follower.Stopped)
	}
}

// A command that names a removed process group must not find another one.
func TestAWatchNeverAddsARemovedProcessGroupAgain(t *testing.T) {
	w := &commandstest.Watched{Given: commandstest.NewGiven(t)}
	replaceNewest := func() {
		id := newestOf(w.Given, v1beta2.ProcessClassStateless)
		w.Cluster.Resource.ProcessGroup(id).MarkForRemoval(w.Cluster.Now())
		w.Ring(plan.ClusterResource)
	}
	forget := func() { // the IDs of removed groups are kept until their exclusions have ended
		w.Cluster.Tick(15 * time.Minute)
		w.Ring(plan.Pods)
	}
	w.Steps = []func(){replaceNewest, forget, replaceNewest, forget, replaceNewest, forget}
	if code := w.Run("--yes"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s%s", code, &w.Out, &w.Err)
	}
	added := map[v1beta2.ProcessGroupID]int{}
	for _, g := range addedBy(w.Given) {
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
func addedBy(g *commandstest.Given) []plan.NewGroup {
	var all []plan.NewGroup
	for _, a := range g.Cluster.Acted {
		if add, is := a.(plan.AddGroups); is {
			all = append(all, add.Groups...)
		}
	}
	return all
}

func newestOf(g *commandstest.Given, class v1beta2.ProcessClass) (id v1beta2.ProcessGroupID) {
	for _, added := range addedBy(g) {
		if added.Class == class {
			id = added.ID
		}
	}
	return id
}

func TestAWatchOfANewClusterContinuesUntilItIsConfigured(t *testing.T) {
	w := &commandstest.Watched{Given: commandstest.NewGiven(t)}
	if code := w.Run("--yes"); code != exit.ExitDone || !w.Cluster.Resource.Status.Configured {
		t.Errorf("exit code %d: %s%s", code, &w.Out, &w.Err)
	}
}

// A watch has no end, so no progress: on a terminal its waits are lines as in a log.
func TestAWatchOnATerminalPrintsItsWaits(t *testing.T) {
	w := &commandstest.Watched{Given: commandstest.NewGiven(t)}
	w.Terminal, w.Columns = true, 200
	if code := w.Run("--yes", "--color", "never"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s%s", code, &w.Out, &w.Err)
	}
	if !strings.Contains(w.Out.String(), "waiting  0 of 3 pods for the first coordinators are running") || strings.Contains(w.Out.String(), "so far") {
		t.Errorf("printed:\n%s", &w.Out)
	}
}

func TestABlockedWatchReportsOnceAndContinuesWhenUnblocked(t *testing.T) {
	w := &commandstest.Watched{Given: commandstest.NewGiven(t)}
	w.Evaluated = slices.Clone(commandstest.OperatorLives)
	w.Steps = []func(){func() {}, func() { w.Ring(plan.Pods) }, func() { w.Evaluated = nil; w.Ring(plan.Pods) }}
	if code := w.Run("--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d", code)
	}
	for _, line := range []string{"blocked: manual intervention required: G-OPERATOR", "blocked  G-OPERATOR"} {
		if n := strings.Count(w.Out.String(), line); n != 1 {
			t.Errorf("printed %d times %q: %s", n, line, &w.Out)
		}
	}
	if len(w.Cluster.Acted) == 0 {
		t.Error("did nothing once the operator had ended")
	}
}

func TestAWatchWaitsWhileAnotherRunIsActive(t *testing.T) {
	w := &commandstest.Watched{Given: commandstest.NewGiven(t), Counts: longerThanBetweenPasses}
	w.Cluster.LeaseHolder = "alice"
	w.Steps = []func(){func() {}, func() {}, func() { w.Cluster.LeaseHolder = "" }}
	if code := w.Run("--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(w.Out.String(), "waiting: another run is active: the lease is held by alice"); n != 1 {
		t.Errorf("printed it %d times: %s", n, &w.Out)
	}
	if len(w.Cluster.Acted) == 0 {
		t.Error("did nothing once alice had ended")
	}
}

func TestAWatchRetriesFailuresWithIncreasingBackoff(t *testing.T) {
	tests := map[string]error{
		"something went wrong":   errors.New("quota"),
		"no right":               commandstest.ErrForbidden,
		"the API server hangs":   &reconcile.UnreachableError{Err: commandstest.ErrNoAnswer},
		"someone else's write":   commandstest.ErrConflict,
		"the context of a limit": context.DeadlineExceeded,
	}
	for name, problem := range tests {
		t.Run(name, func(t *testing.T) {
			w := &commandstest.Watched{Given: commandstest.NewGiven(t), Counts: longerThanBetweenPasses}
			w.Cluster.Refuse = commandstest.Refuse("CreatePod", problem)
			var rests []time.Duration
			note := func() { rests = append(rests, w.Timers[len(w.Timers)-1]) }
			w.Steps = []func(){note, note, note, func() { note(); w.Cluster.Refuse = nil }}
			if code := w.Run("--yes"); code != exit.ExitDone {
				t.Errorf("exit code %d", code)
			}
			if n := strings.Count(w.Out.String(), "failed, will retry"); n != 1 {
				t.Errorf("printed it %d times: %s", n, &w.Out)
			}
			for i := range rests[1:] {
				if rests[i+1] < rests[i]*3/2 {
					t.Errorf("rested %v", rests)
				}
			}
			if !strings.Contains(w.Out.String(), "create pod") {
				t.Errorf("created no pods afterwards: %s", &w.Out)
			}
		})
	}
}

func TestAFailedWatchRetriesEarlyOnlyIfTheResourceChanges(t *testing.T) {
	for what, hurries := range map[plan.Facet]bool{plan.ClusterResource: true, plan.Pods: false} {
		t.Run(what.String(), func(t *testing.T) {
			w := &commandstest.Watched{Given: commandstest.NewGiven(t), Counts: longerThanBetweenPasses}
			w.Cluster.Refuse = commandstest.Refuse("CreatePod", errors.New("quota"))
			w.Steps = []func(){func() {}, func() {}, func() { w.Cluster.Refuse = nil; w.Ring(what) }}
			w.Run("--yes")
			third := slices.IndexFunc(w.Timers, func(d time.Duration) bool { return d >= 8*time.Second })
			if after := w.Timers[third+1]; (after <= pace.DefaultInterval) != hurries {
				t.Errorf("rested for another %s after the change; all timers %v", after, w.Timers)
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
			g := commandstest.NewGiven(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			g.EndErr = tc.kept
			g.Cluster.Refuse = func(a plan.Action) error {
				if plan.KindOf(a) == "ApplyConfigMap" {
					cancel(&exit.InterruptedError{Signal: tc.signal})
				}
				return nil
			}
			code := g.RunIn(ctx, "reconcile", "sample", "--yes", "--watch")
			if code != tc.want || !strings.Contains(g.Out.String(), tc.says) {
				t.Errorf("exit code %d, want %d and %q: %s%s", code, tc.want, tc.says, &g.Out, &g.Err)
			}
			if last := g.Cluster.Acted[len(g.Cluster.Acted)-1]; plan.KindOf(last) != "ApplyConfigMap" {
				t.Errorf("the action that ran was not the last: %s", last.Describe())
			}
			if g.Cluster.Locked() || !g.Follower.Stopped {
				t.Errorf("locked %t, follower stopped %t", g.Cluster.Locked(), g.Follower.Stopped)
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
	w := &commandstest.Watched{Given: commandstest.Up(t)}
	removed := false
	w.Connect = func() (session.Session, error) {
		return removedLater{commandstest.Simulated{Cluster: w.Cluster, G: w.Given}, &removed}, nil
	}
	w.Steps = []func(){func() { removed = true; w.Ring(plan.ClusterResource) }}
	if code := w.Run("--yes"); code != exit.ExitDone || !strings.HasSuffix(w.Out.String(), ": the cluster was deleted\n") {
		t.Errorf("exit code %d: %s%s", code, &w.Out, &w.Err)
	}
}

func TestAWatchEndsWhenItsClusterIsRecreated(t *testing.T) {
	w := &commandstest.Watched{Given: commandstest.Up(t)}
	w.Steps = []func(){func() { commandstest.Remake(w.Cluster.Resource); grow(w.Given); w.Ring(plan.ClusterResource) }}
	acted := len(w.Cluster.Acted)
	if code := w.Run("--yes"); code != exit.ExitDone || !strings.HasSuffix(w.Out.String(), ": the cluster was deleted\n") {
		t.Errorf("exit code %d: %s%s", code, &w.Out, &w.Err)
	}
	if len(w.Cluster.Acted) != acted {
		t.Errorf("did %v", w.Cluster.Acted[acted:])
	}
}

func TestAFailedLeaseReleaseDoesNotEndAWatch(t *testing.T) {
	w := &commandstest.Watched{Given: commandstest.NewGiven(t), Counts: longerThanBetweenPasses}
	w.EndErr = errors.New("release the Lease: too many requests")
	w.Steps = []func(){func() {}, func() { w.EndErr = nil }}
	if code := w.Run("--yes"); code != exit.ExitDone {
		t.Errorf("exit code %d: %s%s", code, &w.Out, &w.Err)
	}
	if !strings.Contains(w.Out.String(), "failed, will retry: release the Lease") {
		t.Errorf("stdout: %s", &w.Out)
	}
}

func TestWatchJSONLinesCarryTheirPassNumber(t *testing.T) {
	w := &commandstest.Watched{Given: commandstest.Up(t)}
	w.Steps = []func(){func() { w.Ring(plan.Pods) }}
	w.Run("--yes", "-o", "json")
	type line struct {
		Event, Ending, Kind, Reason string
		Pass, Passes, ExitCode      int
		Changed                     bool
		Facets                      []string
	}
	var lines []line
	for text := range bytes.Lines(w.Out.Bytes()) {
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
	w := &commandstest.Watched{Given: commandstest.Up(t)}
	var address string
	w.Steps = []func(){func() {
		output := regexp.MustCompile(`metrics on (http://127\.0\.0\.1:\d+)/metrics`).FindStringSubmatch(w.Err.String())
		if output == nil {
			t.Fatalf("stderr does not say where: %s", &w.Err)
		}
		address = output[1]
		for path, want := range map[string]string{"/metrics": `kubectl_fdb_passes_total{fdb_cluster="sample",fdb_namespace="fdb",outcome="done"} 1`, "/healthz": "ok", "/readyz": "ok"} {
			if text := ask(t, address+path); !strings.Contains(text, want) {
				t.Errorf("%s: %s", path, text)
			}
		}
		w.Ring(plan.Pods)
	}}
	w.Run("--yes", "--metrics-addr", "127.0.0.1:0")
	if answer, err := http.Get(address + "/healthz"); err == nil {
		answer.Body.Close()
		t.Error("the server outlived the watch")
	}
}

func TestWatchMetricsIncludeTheOperationOfAnotherRun(t *testing.T) {
	w := &commandstest.Watched{Given: commandstest.Up(t)}
	other := reconcile.Operation{ID: "run9", Command: "drain node-3 -c sample --wait", Holder: "ann@elsewhere pid 7", User: "ann@elsewhere", Since: w.Clock.Now(), Seen: w.Clock.Now()}
	text, err := json.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
	w.Objects = append(w.Objects, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fdb", Name: live.LeaseName("sample"), Annotations: map[string]string{live.AnnotationOperation: string(text)},
	}})
	w.Steps = []func(){func() {
		address := regexp.MustCompile(`metrics on (http://127\.0\.0\.1:\d+)/metrics`).FindStringSubmatch(w.Err.String())[1]
		const want = `kubectl_fdb_operation_active{command="drain",fdb_cluster="sample",fdb_namespace="fdb",owner="ann@elsewhere",phase="pass"} 1`
		if page := ask(t, address+"/metrics"); !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
		w.Ring(plan.Pods)
	}}
	w.Run("--yes", "--metrics-addr", "127.0.0.1:0")
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
	w := &commandstest.Watched{Given: commandstest.Up(t)}
	w.Steps = []func(){func() {
		w.Follower.Problem(plan.Nodes, commandstest.ErrForbidden)
		w.Follower.Problem(plan.Nodes, commandstest.ErrForbidden)
		w.Cluster.Tick(session.ProblemInterval)
		w.Follower.Problem(plan.Nodes, commandstest.ErrForbidden)
		w.Ring(plan.Pods)
	}}
	w.Run("--yes")
	if n := strings.Count(w.Err.String(), "watching nodes: forbidden"); n != 2 || !strings.Contains(w.Err.String(), "changes are only seen every 1m0s") {
		t.Errorf("printed it %d times: %s", n, &w.Err)
	}
}

func TestAWatchFollowsOnlyTheFacetsThatItsStagesRead(t *testing.T) {
	w := &commandstest.Watched{Given: commandstest.Up(t)}
	w.Run("--yes", "--only", "AddServices")
	if f := w.Follower.Facets; f&plan.Services == 0 || f&plan.DisruptionBudgets != 0 {
		t.Errorf("follows %s: want services, which the stage reads, and no disruption budgets, which neither it nor the status does", f)
	}
}
