package forecast_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// everything are the facets of a pass over a cluster.
const everything = plan.ClusterResource | plan.Nodes | plan.Pods | plan.Volumes | plan.Services | plan.ConfigMap | plan.PodFiles |
	plan.Database | plan.Coordination | plan.Detector | plan.DisruptionBudgets | plan.Successors

func clusterOf(edit func(*v1beta2.FoundationDBCluster)) *v1beta2.FoundationDBCluster {
	c := &v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "fdb", UID: "1", Generation: 1},
		Spec:       v1beta2.FoundationDBClusterSpec{Version: "7.3.79"},
	}
	c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 5, Log: 4, Stateless: 4}
	if edit != nil {
		edit(c)
	}
	return c
}

// happens runs passes until nothing is left, and returns what they did by stage and kind.
func happens(t *testing.T, w *sim.Cluster, list []plan.Stage) map[string]int {
	t.Helper()
	done, acted := map[string]int{}, false
	report := func(e reconcile.Event) {
		if a, ok := e.(reconcile.ActionDone); ok && a.Err == nil && !plan.Records(a.Action) {
			done[string(a.Stage)+" "+plan.KindOf(a.Action)] += times(a.Action)
			acted = true
		}
	}
	for range 400 {
		acted = false
		p := reconcile.Pass{Stages: list, Observer: w, Actor: w, Report: report, Seed: 42}
		end, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if end.Settled() {
			return done
		}
		w.Await(t.Context(), pause(end, acted), pace.DefaultInterval)
	}
	t.Fatal("no end")
	return nil
}

// times is 1 for an action. What marks drained and removed process groups counts for each of them: with how many writes
// they are marked depends on the second in which a recovery ends.
func times(a plan.Action) int {
	switch a := a.(type) { //nolint:gochecksumtype // all others count once
	case plan.SetExcluded:
		return len(a.Groups)
	case plan.IncludeAndForget:
		return len(a.Groups)
	}
	return 1
}

// pause is the time until a command begins the next pass: soon after actions, whose effects it follows.
func pause(end reconcile.PassDone, acted bool) time.Duration {
	if acted {
		return pace.DefaultInterval
	}
	return max(min(max(end.RetryAfter, end.TidyAfter()), pace.LongestRest), pace.DefaultInterval)
}

func observed(t *testing.T, w *sim.Cluster) plan.Snapshot {
	t.Helper()
	var s plan.Snapshot
	if err := w.Observe(t.Context(), &s, everything); err != nil {
		t.Fatal(err)
	}
	return s
}

// passes runs some passes of each control-plane instance, in turn.
func passes(t *testing.T, clusters ...*sim.Cluster) (settled bool) {
	t.Helper()
	for range 20 {
		settled = true
		for _, w := range clusters {
			p := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Actor: w, Report: func(reconcile.Event) {}, Seed: 42}
			end, err := p.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			settled = settled && end.Settled()
		}
		if settled {
			break
		}
		clusters[0].Tick(70 * time.Second)
	}
	return settled
}

// rest runs passes until no control-plane instance has anything to do, and lets time pass.
func rest(t *testing.T, clusters ...*sim.Cluster) {
	t.Helper()
	for range 5 {
		if passes(t, clusters...) {
			clusters[0].Tick(20 * time.Minute)
			return
		}
	}
	t.Fatal("not reconciled")
}

func settled(t *testing.T, edit func(*v1beta2.FoundationDBCluster)) *sim.Cluster {
	t.Helper()
	w, err := sim.New(clusterOf(edit), 7)
	if err != nil {
		t.Fatal(err)
	}
	happens(t, w, stages.Cluster())
	w.Tick(20 * time.Minute)
	happens(t, w, stages.Cluster())
	return w
}

func forecastOf(t *testing.T, w *sim.Cluster) planned.Forecast {
	t.Helper()
	return forecastWith(t, w, stages.Cluster())
}

func forecastWith(t *testing.T, w *sim.Cluster, list []plan.Stage) planned.Forecast {
	t.Helper()
	f, err := forecast.Play(t.Context(), forecast.Request{Observed: observed(t, w), Stages: list, Seed: 42, PodStart: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func counts(f planned.Forecast) map[string]int {
	done := map[string]int{}
	for _, p := range f.Phases {
		n := p.Actions
		if p.Kind == plan.KindOf(plan.SetExcluded{}) || p.Kind == plan.KindOf(plan.IncludeAndForget{}) {
			n = len(p.Groups)
		}
		done[string(p.Stage)+" "+p.Kind] += n
	}
	return withoutMetadata(done)
}

// withoutMetadata leaves out how often labels and annotations are patched: a pass that comes a
// second earlier may patch a pod twice.
func withoutMetadata(done map[string]int) map[string]int {
	for key := range done {
		if strings.HasSuffix(key, " "+plan.KindOf(plan.PatchMetadata{})) {
			done[key] = 1
		}
	}
	return done
}

func groupOf(w *sim.Cluster, class v1beta2.ProcessClass) v1beta2.ProcessGroupID {
	at := slices.IndexFunc(w.Resource.Status.ProcessGroups, func(g *v1beta2.ProcessGroupStatus) bool { return g.ProcessClass == class })
	return w.Resource.Status.ProcessGroups[at].ProcessGroupID
}

func summary(f planned.Forecast) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s after %d passes, %.0fs: %+v\n", f.End, f.Passes, f.Seconds, f.Totals)
	for _, p := range f.Phases {
		fmt.Fprintf(&b, "  %5.0f-%5.0f %s %s %d %v %s\n", p.FromSeconds, p.ToSeconds, p.Stage, p.Kind, p.Actions, p.Groups, p.Impact)
	}
	for _, w := range f.Waits {
		fmt.Fprintf(&b, "  waits %.0fs %s %s %s\n", w.Seconds, w.Stage, w.Code, w.Brief)
	}
	return b.String()
}

// A forecast of what cannot be simulated has the reason, and no actions.
func TestTheForecastIsUnavailableIfTheStateCannotBeSimulated(t *testing.T) {
	files := &datadir.Files{Coordination: []datadir.File{{Path: "/var/fdb/data/1/coordination-0.fdq", Current: true}}}
	unavailable := func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }
	for name, tc := range map[string]struct {
		code sim.UnsupportedCode
		edit func(*plan.Snapshot)
	}{
		"unknown":     {sim.UnsupportedUnknown, func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "no answer"} }},
		"unavailable": {sim.UnsupportedUnavailable, unavailable},
		"unknown, of a database that the spec names": {sim.UnsupportedUnknown, func(s *plan.Snapshot) {
			s.Database = plan.DatabaseFacts{Unreachable: "there is no cluster file yet"}
			s.Cluster.Status.Configured, s.Cluster.Spec.SeedConnectionString = false, s.Cluster.Status.ConnectionString
		}},
		"unavailable, not configured by the status of the resource": {sim.UnsupportedUnavailable, func(s *plan.Snapshot) {
			unavailable(s)
			s.Cluster.Status.Configured = false
		}},
		"unknown, with files of a database, not configured by the status of the resource": {sim.UnsupportedUnavailable, func(s *plan.Snapshot) {
			s.Database = plan.DatabaseFacts{Unreachable: "no answer", DataDirs: &plan.DataDirs{Pods: map[string]*datadir.Files{"sample-log-1": files}}}
			s.Cluster.Status.Configured = false
		}},
	} {
		t.Run(name, func(t *testing.T) {
			code := tc.code
			s := observed(t, settled(t, nil))
			tc.edit(&s)
			f, err := forecast.Play(t.Context(), forecast.Request{Observed: s, Stages: stages.Cluster()})
			if err != nil {
				t.Fatal(err)
			}
			if f.End != planned.ForecastUnavailable || f.Unavailable == nil || f.Unavailable.Code != string(code) || len(f.Phases) > 0 {
				t.Errorf("%+v", f)
			}
		})
	}
}

// The same facts give the same forecast.
func TestAForecastIsTheSameEveryTime(t *testing.T) {
	w := settled(t, nil)
	w.Resource.Spec.ProcessGroupsToRemove = []v1beta2.ProcessGroupID{groupOf(w, v1beta2.ProcessClassLog)}
	w.Resource.Generation++
	if diff := cmp.Diff(forecastOf(t, w), forecastOf(t, w)); diff != "" {
		t.Error(diff)
	}
}

// Simulations with failures complete, and tell what happened in the worst one.
func TestSimulationsWithFailuresComplete(t *testing.T) {
	w := settled(t, nil)
	w.Resource.Spec.Version = "7.3.81"
	w.Resource.Generation++
	all, err := forecast.Simulate(t.Context(), forecast.Request{Observed: observed(t, w), Stages: stages.Cluster(), Seed: 42}, 4)
	if err != nil {
		t.Fatal(err)
	}
	worst := all.Run(all.Worst)
	if all.Unavailable != nil || all.Complete != 4 || worst == nil || len(worst.Story) == 0 || all.MedianSeconds <= 0 || all.SlowSeconds < all.MedianSeconds {
		t.Errorf("%+v", all)
	}
	t.Logf("%+v", all)
}
