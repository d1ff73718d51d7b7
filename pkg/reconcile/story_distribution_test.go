package reconcile_test

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast/trial"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
)

// onKeys are the nodes that the pods of each distribution key run on.
func onKeys(w *sim.Cluster) map[string][]string {
	nodes := map[string][]string{}
	for _, pod := range w.Pods {
		if key := objects.DistributionKeyOf(pod); key != "" {
			nodes[key] = append(nodes[key], pod.Spec.NodeName)
		}
	}
	for key := range nodes {
		slices.Sort(nodes[key])
		nodes[key] = slices.Compact(nodes[key])
	}
	return nodes
}

// placedWrong is which key is on several nodes, or which node has several keys of a pack.
func placedWrong(w *sim.Cluster) string {
	taken := map[string]string{}
	nodes := onKeys(w)
	for _, key := range slices.Sorted(maps.Keys(nodes)) {
		if len(nodes[key]) != 1 {
			return fmt.Sprintf("%s is on %v", key, nodes[key])
		}
		pack := key[:len(key)-2] + " on " + nodes[key][0]
		if taken[pack] != "" {
			return fmt.Sprintf("%s and %s share %s", taken[pack], key, nodes[key][0])
		}
		taken[pack] = key
	}
	return ""
}

// migration watches the passes of a change of the distribution.
type migration struct {
	t *testing.T
	w *sim.Cluster
	// marked are the process groups that were marked, and how often.
	marked map[v1beta2.ProcessGroupID]int
	// pods are the most pods that existed at once, and undrained those of groups that were not
	// drained.
	pods, undrained int
	// restarts is true where pods are recreated, for which the database recovers.
	restarts bool
	acted    int
}

func watch(t *testing.T, w *sim.Cluster) *migration {
	t.Helper()
	return &migration{t: t, w: w, marked: map[v1beta2.ProcessGroupID]int{}, acted: len(w.Acted)}
}

// count notes how many pods there are.
func (m *migration) count() {
	undrained := 0
	for _, g := range m.w.Resource.Status.ProcessGroups {
		if !g.IsExcluded() && m.w.Pods[g.PodName(m.w.Resource)] != nil {
			undrained++
		}
	}
	m.pods, m.undrained = max(m.pods, len(m.w.Pods)), max(m.undrained, undrained)
}

// run makes passes until one has nothing to do, and checks after each what must hold throughout.
func (m *migration) run() {
	m.t.Helper()
	for range 120 {
		done := pass(m.t, m.w, func(reconcile.Event) {})
		for _, a := range m.w.Acted[m.acted:] {
			if mark, ok := a.(plan.MarkForRemoval); ok {
				for _, id := range mark.Groups {
					m.marked[id]++
				}
			}
		}
		m.acted = len(m.w.Acted)
		m.count()
		if db := m.w.FDB.Databases()[0]; !db.EveryKeyOnAtLeast(db.DesiredReplicas()) {
			m.t.Fatalf("replicas: %v", db.Replicas())
		}
		if !m.restarts && !m.w.Resource.Status.Health.Available {
			m.t.Fatal("the database is unavailable")
		}
		if done.Settled() {
			return
		}
		m.w.Tick(time.Minute)
	}
	m.t.Fatal("no end")
}

// forecast is what the plan shows before anything is done.
func forecast(t *testing.T, w *sim.Cluster) readings.DistributionMoves {
	t.Helper()
	var s plan.Snapshot
	if err := w.Observe(t.Context(), &s, plan.ClusterResource|plan.Pods|plan.Volumes); err != nil {
		t.Fatal(err)
	}
	return readings.NewInspection(s, plan.Options{}).DistributionMoves()
}

// TestDistributionChangesReplaceNoMoreGroupsThanForecast changes how clusters are packed. As many process groups
// are replaced as the plan shows, each once, with no more pods at once; data stays fully
// replicated, and the database available.
func TestDistributionChangesReplaceNoMoreGroupsThanForecast(t *testing.T) {
	const all, stateful, class = v1beta2.BinPackAll, v1beta2.BinPackStateful, v1beta2.BinPackClass
	for name, tc := range map[string]struct {
		before, after *v1beta2.DistributionConfig
		most          int // replaced at once; 0 for no limit
		single        bool
		keep          bool // some process groups stay
	}{
		"packing is enabled":                   {after: trial.Packs(3, class, new(false))},
		"packing is enabled, one at a time":    {after: trial.Packs(3, class, new(false)), most: 1},
		"packing all is enabled and required":  {after: trial.Packs(3, all, new(true))},
		"more fault domains":                   {before: trial.Packs(3, class, new(false)), after: trial.Packs(4, class, new(false)), keep: true},
		"more fault domains, two at a time":    {before: trial.Packs(3, class, new(true)), after: trial.Packs(5, class, new(true)), most: 2, keep: true},
		"fewer fault domains":                  {before: trial.Packs(5, stateful, new(false)), after: trial.Packs(3, stateful, new(false)), keep: true},
		"from 4 to 2":                          {before: trial.Packs(4, class, new(false)), after: trial.Packs(2, class, new(false)), single: true, keep: true},
		"from 2 to 4":                          {before: trial.Packs(2, class, new(true)), after: trial.Packs(4, class, new(true)), single: true, keep: true},
		"another mode":                         {before: trial.Packs(3, class, new(false)), after: trial.Packs(3, all, new(false))},
		"another mode back, three at a time":   {before: trial.Packs(3, all, new(false)), after: trial.Packs(3, class, new(false)), most: 3},
		"it is required":                       {before: trial.Packs(3, stateful, new(false)), after: trial.Packs(3, stateful, new(true))},
		"another number and mode, one by one":  {before: trial.Packs(3, stateful, new(false)), after: trial.Packs(4, class, new(false)), most: 1},
		"the same":                             {before: trial.Packs(3, class, new(false)), after: trial.Packs(3, class, new(false)), keep: true},
		"as many, for more process groups too": {before: trial.Packs(3, class, new(false)), after: trial.Packs(3, class, new(true)), most: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := cluster(t, 31, func(c *v1beta2.FoundationDBCluster) {
				c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 6, Log: 4, Stateless: 5}
				c.Spec.DistributionConfig = tc.before
				if tc.single {
					c.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeSingle
				}
				if tc.most > 0 {
					c.Spec.AutomationOptions.MaxConcurrentReplacements = &tc.most
				}
			})
			w.Nodes = simtest.NodeNames(20)
			settle(t, w, 20, io.Discard)
			w.Tick(20 * time.Minute)
			if tc.before != nil && (trial.Unpacked(w) != "" || placedWrong(w) != "") {
				t.Fatal(trial.Unpacked(w), placedWrong(w))
			}
			w.Resource.Spec.DistributionConfig = tc.after
			w.Resource.Generation++
			want := forecast(t, w)
			m := watch(t, w)
			m.run()
			for id, times := range m.marked {
				if times != 1 {
					t.Errorf("%s is marked %d times", id, times)
				}
			}
			if len(m.marked) != want.Replaced || (want.Remaining > 0) != tc.keep {
				t.Errorf("%d are replaced; the plan shows %+v", len(m.marked), want)
			}
			if most := m.undrained; most > want.Pods || (!want.Limited && m.pods > want.Pods) {
				t.Errorf("%d pods at once, %d of them undrained; the plan shows %+v", m.pods, most, want)
			}
			if want.Limited != (tc.most > 0 && tc.most < want.Replaced) {
				t.Errorf("the plan shows %+v with a limit of %d", want, tc.most)
			}
			if wrong := trial.Unpacked(w); wrong != "" {
				t.Error(wrong)
			}
			if wrong := placedWrong(w); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// TestReducingDesiredFaultDomainsRepacksTheCluster records how a cluster leaves two of its four fault domains, with the
// numbers of the plan.
func TestReducingDesiredFaultDomainsRepacksTheCluster(t *testing.T) {
	st := newStory(t, 32, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 4, Log: 4, Stateless: 4}
		c.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeSingle
		c.Spec.DistributionConfig = trial.Packs(4, v1beta2.BinPackAll, new(false))
	})
	for _, g := range st.w.Resource.Status.ProcessGroups {
		st.logf("%s: %s", g.ProcessGroupID, objects.DistributionKeyOf(st.w.Pods[g.PodName(st.w.Resource)]))
	}
	st.heading("desiredFaultDomains: 2")
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.DistributionConfig = trial.Packs(2, v1beta2.BinPackAll, new(false))
	})
	st.run(3*time.Minute, always)
	if wrong := trial.Unpacked(st.w) + placedWrong(st.w); wrong != "" {
		t.Error(wrong)
	}
	if nodes := onKeys(st.w); len(nodes) != 2 {
		t.Errorf("keys on nodes: %v", nodes)
	}
	st.ends()
}

// logf adds a line.
func (st *story) logf(format string, args ...any) { fmt.Fprintf(&st.text, format+"\n", args...) }

// TestDisablingBinPackingReplacesNoProcessGroup recreates the pods in place, by the update strategy.
func TestDisablingBinPackingReplacesNoProcessGroup(t *testing.T) {
	w := grown(t, 33, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.DistributionConfig = trial.Packs(3, v1beta2.BinPackClass, new(true))
		c.Spec.AutomationOptions.PodUpdateStrategy = v1beta2.PodUpdateStrategyDelete
	})
	before := w.Resource.Status.DeepCopy().ProcessGroups
	w.Resource.Spec.DistributionConfig.Enabled = new(false)
	w.Resource.Generation++
	m := watch(t, w)
	m.restarts = true
	m.run()
	if len(m.marked) > 0 || len(w.Resource.Status.ProcessGroups) != len(before) {
		t.Errorf("marked: %v", m.marked)
	}
	for name, pod := range w.Pods {
		if key := objects.DistributionKeyOf(pod); key != "" {
			t.Errorf("%s has the key %s", name, key)
		}
	}
}

// TestAPodWithARequiredFaultDomainStaysPendingUntilItHasRoom closes the node of a bucket and takes one of its pods
// away: no other node takes it, and nothing else is packed with it.
func TestAPodWithARequiredFaultDomainStaysPendingUntilItHasRoom(t *testing.T) {
	for required, pending := range map[bool]bool{true: true, false: false} {
		w := grown(t, 34, func(c *v1beta2.FoundationDBCluster) {
			c.Spec.ProcessCounts.Stateless = 6
			c.Spec.DistributionConfig = trial.Packs(3, v1beta2.BinPackClass, new(required))
		})
		g := groupOf(w, v1beta2.ProcessClassStateless)
		name := g.PodName(w.Resource)
		node := w.Pods[name].Spec.NodeName
		w.Cordoned = map[string]bool{node: true}
		w.KillPod(name)
		for range 3 {
			pass(t, w, func(reconcile.Event) {})
			w.Tick(time.Minute)
		}
		if got := w.Pods[name].Spec.NodeName == ""; got != pending {
			t.Errorf("required %t: the pod is on %q", required, w.Pods[name].Spec.NodeName)
		}
		if got := w.Resource.ProcessGroup(g.ProcessGroupID).HasCondition(v1beta2.ConditionPodPending); got != pending {
			t.Errorf("required %t: PodPending is %t", required, got)
		}
		w.Cordoned = nil
		w.Tick(time.Minute)
		if on := w.Pods[name].Spec.NodeName; pending && on != node {
			t.Errorf("once its node has room the pod is on %q, want %s", on, node)
		}
	}
}

// TestTooFewFaultDomainsAreRefused asks for two with double, and then overrides the gate.
func TestTooFewFaultDomainsAreRefused(t *testing.T) {
	w := grown(t, 35, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.DistributionConfig = trial.Packs(3, v1beta2.BinPackClass, new(false))
	})
	w.Resource.Spec.DistributionConfig = trial.Packs(2, v1beta2.BinPackClass, new(false))
	w.Resource.Generation++
	acted := len(w.Acted)
	done := pass(t, w, func(reconcile.Event) {})
	if done.Outcome != reconcile.Blocked || trial.Unpacked(w) == "" {
		t.Errorf("ended %s", done.Outcome)
	}
	for _, a := range w.Acted[acted:] {
		if _, status := a.(plan.WriteStatus); !status {
			t.Errorf("did %s", a.Describe())
		}
	}
	w.Overrides = map[plan.Gate]string{plan.GateConfig: "a test cluster"}
	m := watch(t, w)
	m.restarts = true
	m.run()
	if wrong := trial.Unpacked(w); wrong != "" {
		t.Error(wrong)
	}
	w.Overrides = nil
	w.KillPod(groupOf(w, v1beta2.ProcessClassStateless).PodName(w.Resource))
	m.run()
	if wrong := trial.Unpacked(w); wrong != "" {
		t.Errorf("once the pods are packed so, nothing is refused: %s", wrong)
	}
}
