package metrics

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

func cluster() *v1beta2.FoundationDBCluster {
	condition := func(c v1beta2.ProcessGroupConditionType) *v1beta2.ProcessGroupCondition {
		return &v1beta2.ProcessGroupCondition{Type: c}
	}
	c := &v1beta2.FoundationDBCluster{ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb", Generation: 4}}
	c.Status.Generations.Reconciled = 3
	c.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{
		{ProcessGroupConditions: []*v1beta2.ProcessGroupCondition{condition(v1beta2.ConditionPodPending), condition(v1beta2.ConditionMissingProcesses)}},
		{ProcessGroupConditions: []*v1beta2.ProcessGroupCondition{condition(v1beta2.ConditionPodPending)}},
		{},
	}
	return c
}

// get asks a server and returns the code and the text of its answer.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestMetricsCountPassesActionsAndRefusedGates(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(noon)
	m := New("sample", "fdb", clock.Now)
	no := plan.Check{Gate: plan.GateAvailable}
	for _, e := range []reconcile.Event{
		reconcile.PassStarted{Round: 1},
		reconcile.Observed{Snapshot: plan.Snapshot{Cluster: cluster()}},
		reconcile.GatesChecked{Checks: []plan.Check{{Gate: plan.GateOperator}}},
		reconcile.StageDecided{Stage: "AddPods"},
		reconcile.ActionDone{Stage: "AddPods", Action: plan.CreatePod{}},
		reconcile.ActionDone{Stage: "AddPods", Action: plan.CreatePod{}, Err: errors.New("quota")},
	} {
		m.Report(e)
	}
	clock.SetTime(noon.Add(7 * time.Second))
	for _, e := range []reconcile.Event{
		reconcile.StageDone{Stage: "AddPods", Outcome: reconcile.Failed},
		reconcile.StageDecided{Stage: "RemovePods", Decision: plan.Decision{Checks: []plan.Check{no, {OK: true, Gate: plan.GateDD}}}},
		reconcile.StageDecided{Stage: "RemovePods", Decision: plan.Decision{Checks: []plan.Check{no}}}, // again, after the lock
		reconcile.StageDone{Stage: "RemovePods", Outcome: reconcile.Waiting},
		reconcile.PassDone{Outcome: reconcile.Failed, RetryAfter: 30 * time.Second},
	} {
		m.Report(e)
	}
	server := httptest.NewServer(Handler(m, &Liveness{}))
	defer server.Close()
	code, text := get(t, server.URL+"/metrics")
	if code != http.StatusOK {
		t.Fatalf("code %d: %s", code, text)
	}
	lines := strings.Split(strings.ReplaceAll(text, `fdb_cluster="sample",fdb_namespace="fdb"`, "OWN"), "\n")
	for _, want := range []string{
		`kubectl_fdb_passes_total{OWN,outcome="failed"} 1`,
		`kubectl_fdb_passes_total{OWN,outcome="done"} 0`,
		`kubectl_fdb_pass_duration_seconds_sum{OWN} 7`,
		`kubectl_fdb_stages_total{OWN,outcome="failed",stage="AddPods"} 1`,
		`kubectl_fdb_stage_duration_seconds_sum{OWN,stage="AddPods"} 7`,
		`kubectl_fdb_stage_duration_seconds_sum{OWN,stage="RemovePods"} 0`,
		`kubectl_fdb_actions_total{OWN,kind="CreatePod",result="done"} 1`,
		`kubectl_fdb_actions_total{OWN,kind="CreatePod",result="failed"} 1`,
		`kubectl_fdb_gate_refusals_total{OWN,gate="G-AVAIL",stage="RemovePods"} 1`,
		`kubectl_fdb_gate_refusals_total{OWN,gate="G-OPERATOR",stage=""} 1`,
		`kubectl_fdb_last_pass_timestamp_seconds{OWN,outcome="failed"} 1.795176007e+09`,
		`kubectl_fdb_generation{OWN} 4`,
		`kubectl_fdb_reconciled_generation{OWN} 3`,
		`kubectl_fdb_retry_after_seconds{OWN} 30`,
		`kubectl_fdb_process_groups{OWN} 3`,
		`kubectl_fdb_process_group_conditions{condition="PodPending",OWN} 2`,
		`kubectl_fdb_process_group_conditions{condition="MissingProcesses",OWN} 1`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %s in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	if strings.Contains(text, "G-DD") {
		t.Error("a gate that passed counts as a refusal")
	}
}

func TestAClearedConditionIsRemovedFromMetrics(t *testing.T) {
	m := New("sample", "fdb", func() time.Time { return noon })
	m.Report(reconcile.Observed{Snapshot: plan.Snapshot{Cluster: cluster()}})
	m.Report(reconcile.Observed{Snapshot: plan.Snapshot{Cluster: &v1beta2.FoundationDBCluster{}}})
	server := httptest.NewServer(Handler(m, &Liveness{}))
	defer server.Close()
	if _, text := get(t, server.URL+"/metrics"); strings.Contains(text, "PodPending") {
		t.Error(text)
	}
}

func TestHealthzFailsIfPassesStopReporting(t *testing.T) {
	tests := map[string]struct {
		beat, rest time.Duration // after noon; rest 0 announces none
		now        time.Duration
		want       int
	}{
		"right after the start":                     {now: time.Minute, want: http.StatusOK},
		"a pass that reported nothing for too long": {now: SilenceLimit + time.Second, want: http.StatusServiceUnavailable},
		"a pass that reported lately":               {beat: SilenceLimit, now: SilenceLimit + time.Minute, want: http.StatusOK},
		"a long rest":                               {rest: time.Hour, now: 59 * time.Minute, want: http.StatusOK},
		"a rest that should be over long ago":       {rest: time.Hour, now: time.Hour + SilenceLimit + time.Second, want: http.StatusServiceUnavailable},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := &Liveness{}
			p.Beat(noon.Add(tc.beat))
			if tc.rest > 0 {
				p.Wait(noon.Add(tc.rest))
			}
			m := New("sample", "fdb", func() time.Time { return noon.Add(tc.now) })
			server := httptest.NewServer(Handler(m, p))
			defer server.Close()
			if code, text := get(t, server.URL+"/healthz"); code != tc.want {
				t.Errorf("code %d, want %d: %s", code, tc.want, text)
			}
		})
	}
}

func TestReadyzFailsUntilAPassEndsWithoutFailure(t *testing.T) {
	p := &Liveness{}
	server := httptest.NewServer(Handler(New("sample", "fdb", func() time.Time { return noon }), p))
	defer server.Close()
	p.Beat(noon) // a pass runs, and none has ended
	if code, _ := get(t, server.URL+"/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("code %d before any pass", code)
	}
	p.RestAfterFailure(noon)
	if code, text := get(t, server.URL+"/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("code %d after a pass that failed: %s", code, text)
	}
	p.Wait(noon)
	if code, text := get(t, server.URL+"/readyz"); code != http.StatusOK {
		t.Errorf("code %d after one that did not fail: %s", code, text)
	}
}

func TestTheMetricsServerListensOnAFreePortAndStops(t *testing.T) {
	m := New("sample", "fdb", func() time.Time { return noon })
	address, stop, err := Serve(t.Context(), "127.0.0.1:0", Handler(m, &Liveness{}))
	if err != nil {
		t.Fatal(err)
	}
	if code, _ := get(t, "http://"+address.String()+"/metrics"); code != http.StatusOK {
		t.Errorf("code %d", code)
	}
	if _, _, err := Serve(t.Context(), address.String(), nil); err == nil {
		t.Error("took an address that is taken")
	}
	stop()
	if conn, err := net.Dial("tcp", address.String()); err == nil {
		conn.Close()
		t.Error("still listens after its end")
	}
}

// A busy machine can make any attempt slow, and none fast.
func TestAnIdleConnectionDoesNotDelayTheMetricsServerShutdown(t *testing.T) {
	var took []time.Duration
	for range 20 {
		took = append(took, shutdownWithAnIdleConnection(t))
		if slices.Min(took) <= shutdownTimeout+2500*time.Millisecond { // 5 s without it
			return
		}
	}
	t.Errorf("took %s", took)
}

func shutdownWithAnIdleConnection(t *testing.T) time.Duration {
	t.Helper()
	m := New("sample", "fdb", func() time.Time { return noon })
	address, stop, err := Serve(t.Context(), "127.0.0.1:0", Handler(m, &Liveness{}))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", address.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	stop()
	return time.Since(began)
}
