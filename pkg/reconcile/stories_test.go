package reconcile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// cluster is a cluster of which only the custom resource exists.
func cluster(t *testing.T, seed uint64, edit func(*v1beta2.FoundationDBCluster)) *sim.Cluster {
	t.Helper()
	w, err := simtest.Sample(seed, edit)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func pass(t *testing.T, w *sim.Cluster, report func(reconcile.Event)) reconcile.PassDone {
	t.Helper()
	p := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Actor: w, Report: report, Seed: 42}
	done, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// settle runs passes until one has nothing to do, and fails after most of them.
func settle(t *testing.T, w *sim.Cluster, most int, story io.Writer) {
	t.Helper()
	for i := 1; i <= most; i++ {
		fmt.Fprintf(story, "\n# Pass %d at %s\n", i, w.Now().Format("15:04:05"))
		done := pass(t, w, ui.Text(story, ui.TextOptions{}))
		if done.Settled() {
			fmt.Fprintln(story, "nothing to do")
			return
		}
		w.Tick(simtest.UntilNext(done))
	}
	t.Fatalf("not settled after %d passes:%s", most, story)
}

func TestNewClusterComesUp(t *testing.T) {
	var story bytes.Buffer
	w := cluster(t, 1, nil)
	settle(t, w, 12, &story)
	if s := w.Resource.Status; !s.Configured || !s.Health.Available || s.Generations.Reconciled != 1 {
		t.Errorf("configured %t, available %t, reconciled generation %d", s.Configured, s.Health.Available, s.Generations.Reconciled)
	}
	golden.RequireEqual(t, story.Bytes())
}

func TestClustersOfEveryRedundancyModeAreReconciled(t *testing.T) {
	modes := map[string]struct {
		mode         v1beta2.RedundancyMode
		groups       int
		coordinators int
	}{
		"single": {v1beta2.RedundancyModeSingle, 12, 1},
		"double": {v1beta2.RedundancyModeDouble, 16, 3},
		"triple": {v1beta2.RedundancyModeTriple, 20, 5},
	}
	for name, tc := range modes {
		t.Run(name, func(t *testing.T) {
			w := cluster(t, 2, func(c *v1beta2.FoundationDBCluster) { c.Spec.DatabaseConfiguration.RedundancyMode = tc.mode })
			var story bytes.Buffer
			settle(t, w, 20, &story)
			if got := len(w.Pods); got != tc.groups {
				t.Errorf("%d pods, want %d", got, tc.groups)
			}
			if got := strings.Count(w.Resource.Status.ConnectionString, ":4501"); got != tc.coordinators {
				t.Errorf("%d coordinators, want %d", got, tc.coordinators)
			}
		})
	}
}

func TestAReconciledClusterGetsNoWrites(t *testing.T) {
	w := cluster(t, 3, nil)
	settle(t, w, 12, io.Discard)
	before := len(w.Acted)
	for range 5 {
		w.Tick(time.Minute)
		if done := pass(t, w, func(reconcile.Event) {}); done.Outcome != reconcile.Done {
			t.Fatalf("a pass over a reconciled cluster ends %s", done.Outcome)
		}
	}
	if len(w.Acted) != before {
		t.Errorf("wrote %v", w.Acted[before:])
	}
}

// However early the plugin dies, the same command again ends in the same state.
func TestReconcileFinishesIfKilledBeforeAnyAction(t *testing.T) {
	whole := cluster(t, 4, nil)
	settle(t, whole, 12, io.Discard)
	actions := len(whole.Acted)
	for n := 1; n <= actions; n++ {
		w := cluster(t, 4, nil)
		runUntilKilled(t, w, n)
		settle(t, w, 14, io.Discard)
		if diff := differences(whole, w); diff != "" {
			t.Fatalf("killed before action %d of %d: %s", n, actions, diff)
		}
	}
}

// runUntilKilled runs passes until the plugin is killed before its n-th action.
func runUntilKilled(t *testing.T, w *sim.Cluster, n int) {
	t.Helper()
	w.Crash = n
	for range 14 {
		ctx, die := context.WithCancel(t.Context())
		p := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Actor: w, Seed: 42, Report: func(e reconcile.Event) {
			if done, ok := e.(reconcile.ActionDone); ok && errors.Is(done.Err, sim.ErrCrashed) {
				die() // the dead decide nothing more
			}
		}}
		_, err := p.Run(ctx)
		die()
		if err != nil || len(w.Acted)+1 >= n {
			break
		}
		w.Tick(5 * time.Second)
	}
	w.Crash = 0
	w.Tick(5 * time.Second)
}

// differences compares the states of two worlds that should be alike.
func differences(want, got *sim.Cluster) string {
	for what, pair := range map[string][2]any{
		"reconciled generation": {want.Resource.Status.Generations.Reconciled, got.Resource.Status.Generations.Reconciled},
		"process groups":        {classes(want), classes(got)},
		"pods":                  {len(want.Pods), len(got.Pods)},
		"PVCs":                  {len(want.Volumes), len(got.Volumes)},
		"services":              {len(want.Services), len(got.Services)},
		"databases created":     {1, created(got)},
	} {
		if fmt.Sprint(pair[0]) != fmt.Sprint(pair[1]) {
			return fmt.Sprintf("%s: want %v, got %v", what, pair[0], pair[1])
		}
	}
	return ""
}

func classes(w *sim.Cluster) []string {
	var names []string
	for _, g := range w.Resource.Status.ProcessGroups {
		names = append(names, string(g.ProcessClass))
	}
	slices.Sort(names)
	return names
}

func created(w *sim.Cluster) (n int) {
	for _, a := range w.Acted {
		if c, ok := a.(plan.Configure); ok && c.New {
			n++
		}
	}
	return n
}

func TestAPreviewOfANewClusterWritesNothing(t *testing.T) {
	w := cluster(t, 5, nil)
	var recorder planned.PlanRecorder
	p := reconcile.Pass{Stages: stages.Cluster(), Observer: w, Report: recorder.Report, Seed: 42}
	done, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Acted) != 0 || done.Planned == 0 {
		t.Errorf("acted %v and planned %d", w.Acted, done.Planned)
	}
	var out bytes.Buffer
	if err := ui.WritePlan(&out, recorder.View(inspect.Metadata{Cluster: "sample", Namespace: "fdb"}), ui.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, out.Bytes())
}

// Three halls need nine coordinators, three in each. No pod can tell its hall before
// its process runs, so three start the database and nine take over later.
func TestThreeDataHallClusterStartsAndHandlesTheLossOfAHall(t *testing.T) {
	w := cluster(t, 6, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.DatabaseConfiguration = v1beta2.DatabaseConfiguration{RedundancyMode: v1beta2.RedundancyModeThreeDataHall, RoleCounts: v1beta2.RoleCounts{Storage: 9, Logs: 9}}
		c.Spec.ProcessCounts.Stateless = -1
		c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"locality_data_hall=$NODE_LABEL_TOPOLOGY_KUBERNETES_IO_ZONE"}},
		}
	})
	w.Nodes, w.NodeLabels = nil, map[string]map[string]string{}
	for i := range 12 {
		node := fmt.Sprintf("node-%d", i)
		w.Nodes = append(w.Nodes, node)
		w.NodeLabels[node] = map[string]string{"topology.kubernetes.io/zone": fmt.Sprintf("hall-%d", i%3)}
	}
	var story bytes.Buffer
	settle(t, w, 60, &story)
	if got := strings.Count(w.Resource.Status.ConnectionString, ":4501"); got != 9 {
		t.Errorf("%d coordinators, want 9", got)
	}
	if w.Resource.Status.Generations.Reconciled != 1 {
		t.Error("not reconciled")
	}
}

// A pod that is lost for good is replaced: a new group comes up, the old one is
// excluded and proven drained, and its objects, exclusion and record go.
func TestAFailedGroupIsReplaced(t *testing.T) {
	w := cluster(t, 7, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 3, Log: 4, Stateless: 4}
	})
	settle(t, w, 12, io.Discard)
	w.Tick(20 * time.Minute)
	lost := ""
	for _, g := range w.Resource.Status.ProcessGroups {
		if g.ProcessClass == v1beta2.ProcessClassStorage {
			lost = g.PodName(w.Resource)
		}
	}
	w.Broken = map[string]bool{lost: true}
	w.KillServers(lost)
	var story bytes.Buffer
	for i := range 40 {
		fmt.Fprintf(&story, "\n# Pass %d at %s\n", i+1, w.Now().Format("15:04:05"))
		done := pass(t, w, ui.Text(&story, ui.TextOptions{}))
		if _, there := w.Pods[lost]; !there && done.Settled() {
			golden.RequireEqual(t, story.Bytes())
			return
		}
		w.Tick(10 * time.Minute)
	}
	t.Fatalf("not replaced:%s", story.String())
}
