package reconcile_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim/simtest"
)

// In a patch upgrade old and new processes work together: storage pods are recreated one
// by one, and the others are replaced.
func TestAPatchUpgradeRunsOldAndNewVersionsTogether(t *testing.T) {
	w := oldAndQuiet(t, 10, nil)
	changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) { s.Version = "7.3.80" })
	var story bytes.Buffer
	settle(t, w, 120, &story)
	golden.RequireEqual(t, story.Bytes())
	if got := w.Resource.Status.RunningVersion; got != "7.3.80" {
		t.Errorf("runs %s", got)
	}
}

// To a version of another protocol all processes go at once: every pod gets the new
// binary beside the old one, then all restart together, and only then the pods are made
// for the new version.
func TestAMajorUpgradeRestartsAllProcessesAtOnce(t *testing.T) {
	w := oldAndQuiet(t, 11, nil)
	restarts := restartsOf(w)
	changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) { s.Version = "7.4.6" })
	var story bytes.Buffer
	settle(t, w, 160, &story)
	golden.RequireEqual(t, story.Bytes())
	if got := w.Resource.Status.RunningVersion; got != "7.4.6" {
		t.Errorf("runs %s", got)
	}
	if diff := cmp.Diff([]int{9}, *restarts); diff != "" {
		t.Errorf("processes per restart (-want +got):\n%s", diff)
	}
}

// Until the restart an upgrade can be reverted, whatever was done for it so far, and
// leaves no trace: no process restarts, and no pod is recreated.
func TestARevertedUpgradeRestartsAndRecreatesNothing(t *testing.T) {
	for passes := range 3 {
		w := oldAndQuiet(t, 11, nil)
		restarts, before := restartsOf(w), podUIDs(w)
		changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) { s.Version = "7.4.6" })
		for range passes {
			pass(t, w, func(reconcile.Event) {})
			w.Tick(5 * time.Second)
		}
		changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) { s.Version = "7.3.79" })
		settle(t, w, 10, io.Discard)
		if len(*restarts) > 0 {
			t.Errorf("after %d passes: restarted %v processes", passes, *restarts)
		}
		if diff := cmp.Diff(before, podUIDs(w)); diff != "" {
			t.Errorf("after %d passes: pods were recreated (-before +after):\n%s", passes, diff)
		}
	}
}

func podUIDs(w *sim.Cluster) map[string]types.UID {
	uids := map[string]types.UID{}
	for name, pod := range w.Pods {
		uids[name] = pod.UID
	}
	return uids
}

// restartsOf collects how many processes each restart for an upgrade reaches.
func restartsOf(w *sim.Cluster) *[]int {
	var restarts []int
	w.Refuse = func(a plan.Action) error {
		if restart, ok := a.(plan.RestartProcesses); ok && restart.UpgradeTo != "" {
			restarts = append(restarts, len(restart.Addresses))
		}
		return nil
	}
	return &restarts
}

// Three instances share one database. Each prepares its own pods and announces them; the
// one that comes last finds all announced and restarts the processes of all three.
func TestThreeControlPlaneInstancesUpgradeOneDatabaseTogether(t *testing.T) {
	s := threeInstances(t, 12)
	var restarts []*[]int
	for _, name := range s.names {
		w := s.clusters[name]
		restarts = append(restarts, restartsOf(w))
		w.Refuse = s.alone(w.Refuse)
		changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) { s.Version = "7.4.6" })
	}
	var story bytes.Buffer
	s.settle(80, &story)
	golden.RequireEqual(t, story.Bytes())
	var all []int
	for _, one := range restarts {
		all = append(all, *one...)
	}
	if diff := cmp.Diff([]int{18}, all); diff != "" {
		t.Errorf("processes per restart (-want +got):\n%s", diff)
	}
	for _, name := range s.names {
		if got := s.clusters[name].Resource.Status.RunningVersion; got != "7.4.6" {
			t.Errorf("%s runs %s", name, got)
		}
	}
}

// alone complains when an instance takes storage pods down while some of another one are
// away: two fault domains would be down by our hands.
func (s sites) alone(then func(plan.Action) error) func(plan.Action) error {
	return func(a plan.Action) error {
		if deletion, ok := a.(plan.DeletePods); ok {
			for _, w := range s.clusters {
				for _, g := range w.Resource.Status.ProcessGroups {
					if g.ProcessClass == v1beta2.ProcessClassStorage && w.Pods[g.PodName(w.Resource)] == nil {
						s.t.Errorf("%s while %s has no pod", deletion.Describe(), g.ProcessGroupID)
					}
				}
			}
		}
		return then(a)
	}
}

// threeInstances share a database whose fault domains are their Kubernetes clusters.
func threeInstances(t *testing.T, seed uint64) sites {
	t.Helper()
	return instances(t, seed, func(*v1beta2.FoundationDBClusterSpec) {}, "kc1", "kc2", "kc3")
}

// instances share a database. All of them have the same edited spec.
func instances(t *testing.T, seed uint64, edit func(*v1beta2.FoundationDBClusterSpec), names ...string) sites {
	t.Helper()
	clusters, err := simtest.Share(t.Context(), seed, edit, names...)
	if err != nil {
		t.Fatal(err)
	}
	s := sites{t: t, names: names, clusters: map[string]*sim.Cluster{}}
	for i, name := range names {
		s.clusters[name] = clusters[i]
	}
	return s
}
