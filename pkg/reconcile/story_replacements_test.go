package reconcile_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// grown is a small cluster that has been up for a while. Its nodes are as many as its
// process groups, so that each is a fault domain of its own.
func grown(t *testing.T, seed uint64, edit func(*v1beta2.FoundationDBCluster)) *sim.Cluster {
	t.Helper()
	w := cluster(t, seed, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 3, Log: 4, Stateless: 4}
		if edit != nil {
			edit(c)
		}
	})
	w.Nodes = nil
	for n := range 12 {
		w.Nodes = append(w.Nodes, fmt.Sprintf("node-%d", n+1))
	}
	settle(t, w, 12, io.Discard)
	w.Tick(20 * time.Minute)
	return w
}

// tell runs passes, so far apart, until the story is over and one has nothing to do.
// After each, what happens next may happen.
func tell(t *testing.T, w *sim.Cluster, story *bytes.Buffer, every time.Duration, next func() (over bool)) {
	t.Helper()
	for range 60 {
		fmt.Fprintf(story, "\n# Pass at %s\n", w.Now().Format("15:04:05"))
		done := pass(t, w, ui.Text(story, ui.TextOptions{}))
		if over := next(); over && done.Settled() {
			fmt.Fprintln(story, "nothing to do")
			return
		}
		w.Tick(every)
	}
	t.Fatalf("it does not end:%s", story)
}

func nodeOf(w *sim.Cluster, id v1beta2.ProcessGroupID) string {
	return w.Pods[w.Resource.ProcessGroup(id).PodName(w.Resource)].Spec.NodeName
}

func groupOf(w *sim.Cluster, class v1beta2.ProcessClass) *v1beta2.ProcessGroupStatus {
	for _, g := range w.Resource.Status.ProcessGroups {
		if g.ProcessClass == class {
			return g
		}
	}
	return nil
}

// Two nodes are tainted, which is more than a tenth of the fault domains: their pods
// stay. One taint is taken away again, and what was recorded of it goes. The other has
// outlasted its rule and then the replacement time: the group is replaced, elsewhere.
func TestReplacedGroupsMoveOffATaintedNode(t *testing.T) {
	w := grown(t, 11, func(c *v1beta2.FoundationDBCluster) {
		options := &c.Spec.AutomationOptions.Replacements
		options.TaintReplacementOptions = []v1beta2.TaintReplacementOption{{Key: new("example.com/maintenance"), DurationInSeconds: new(int64(600))}}
		options.TaintReplacementTimeSeconds = new(900)
	})
	marked, remaining := groupOf(w, v1beta2.ProcessClassStorage).ProcessGroupID, groupOf(w, v1beta2.ProcessClassLog).ProcessGroupID
	left, spared := nodeOf(w, marked), nodeOf(w, remaining)
	taint := corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule}
	w.Taints = map[string][]corev1.Taint{left: {taint}, spared: {taint}}

	var story bytes.Buffer
	fmt.Fprintf(&story, "# Tainted: the nodes of %s and %s\n", marked, remaining)
	passes := 0
	tell(t, w, &story, 5*time.Minute, func() bool {
		if passes++; passes == 8 {
			fmt.Fprintf(&story, "# The taint of the node of %s is taken away\n", remaining)
			delete(w.Taints, spared)
		}
		return w.Resource.ProcessGroup(marked) == nil
	})
	if w.Resource.ProcessGroup(remaining) == nil || nodeOf(w, remaining) != spared {
		t.Errorf("%s did not stay on %s", remaining, spared)
	}
	for _, pod := range w.Pods {
		if pod.Spec.NodeName == left {
			t.Errorf("%s is on %s", pod.Name, left)
		}
	}
	golden.RequireEqual(t, story.Bytes())
}

// Storage volumes should be larger. A claim is never changed: each group gets a
// successor and is drained, one at a time because the spec allows no more.
func TestAVolumeSizeChangeReplacesStorageGroupsOneAtATime(t *testing.T) {
	w := grown(t, 12, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.AutomationOptions.MaxConcurrentReplacements = new(1)
	})
	w.Resource.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassStorage: {
		VolumeClaimTemplate: &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("256G")}},
		}},
	}}
	w.Resource.Generation++

	var story bytes.Buffer
	tell(t, w, &story, 10*time.Minute, func() bool {
		if n := draining(w); n > 1 {
			t.Errorf("%d process groups are drained at the same time", n)
		}
		return w.Resource.Status.Generations.Reconciled == w.Resource.Generation
	})
	for name, claim := range w.Volumes {
		size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
		if storage := claim.Labels[v1beta2.LabelProcessClass] == string(v1beta2.ProcessClassStorage); storage != (size.String() == "256G") {
			t.Errorf("%s asks for %s", name, &size)
		}
	}
	if !w.FDB.Databases()[0].EveryKeyOnAtLeast(2) {
		t.Error("data has too few replicas")
	}
	golden.RequireEqual(t, story.Bytes())
}

func draining(w *sim.Cluster) (n int) {
	for _, g := range w.Resource.Status.ProcessGroups {
		if g.IsMarkedForRemoval() && !g.IsExcluded() {
			n++
		}
	}
	return n
}
