package reconcile_test

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
)

// oldAndQuiet is a small cluster that has matched its spec for twenty minutes.
func oldAndQuiet(t *testing.T, seed uint64, edit func(*v1beta2.FoundationDBCluster)) *sim.Cluster {
	t.Helper()
	w := cluster(t, seed, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessCounts = v1beta2.ProcessCounts{Storage: 3, Log: 3, Stateless: 3}
		if edit != nil {
			edit(c)
		}
	})
	settle(t, w, 12, io.Discard)
	w.Tick(20 * time.Minute)
	return w
}

// changeSpec does what kubectl edit does.
func changeSpec(w *sim.Cluster, edit func(*v1beta2.FoundationDBClusterSpec)) {
	edit(&w.Resource.Spec)
	w.Resource.Generation++
}

// A knob changes the servers' arguments: all pods load the new configuration, and then
// all servers restart at once.
func TestAKnobChangeRestartsAllProcessesTogether(t *testing.T) {
	w := oldAndQuiet(t, 8, nil)
	before := len(w.Acted)
	changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) {
		s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassGeneral: {CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_min_available_space_ratio=0.01"}},
		}
	})
	var story bytes.Buffer
	settle(t, w, 20, &story)
	golden.RequireEqual(t, story.Bytes())
	restarts := 0
	for _, a := range w.Acted[before:] {
		if _, ok := a.(plan.RestartProcesses); ok {
			restarts++
		}
	}
	if restarts != 1 {
		t.Errorf("%d restarts, want one", restarts)
	}
}

// Storage pods are recreated one fault domain at a time, each under maintenance, so that
// no data moves while one is away.
func TestAStorageChangeRollsZoneByZoneUnderMaintenance(t *testing.T) {
	w := oldAndQuiet(t, 9, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.AutomationOptions.MaintenanceModeOptions.UseMaintenanceModeChecker = new(true)
		c.Spec.AutomationOptions.MaintenanceModeOptions.MaintenanceModeTimeSeconds = new(900)
	})
	down := maxDown(w)
	changeSpec(w, func(s *v1beta2.FoundationDBClusterSpec) {
		s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{
			v1beta2.ProcessClassStorage: {PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: v1beta2.ContainerMain, Env: []corev1.EnvVar{{Name: "TZ", Value: "UTC"}}}},
			}}},
		}
	})
	var story bytes.Buffer
	settle(t, w, 60, &story)
	golden.RequireEqual(t, story.Bytes())
	if *down != 1 {
		t.Errorf("%d storage pods were down at once, want 1", *down)
	}
	for _, pod := range w.Pods {
		main := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == v1beta2.ContainerMain })
		has := slices.Contains(pod.Spec.Containers[main].Env, corev1.EnvVar{Name: "TZ", Value: "UTC"})
		if has != (pod.Labels[v1beta2.LabelProcessClass] == string(v1beta2.ProcessClassStorage)) {
			t.Errorf("%s has the variable: %t", pod.Name, has)
		}
	}
}

// maxDown counts the most storage processes that were away whenever a pod was deleted.
func maxDown(w *sim.Cluster) *int {
	most := 0
	w.Refuse = func(a plan.Action) error {
		deletion, ok := a.(plan.DeletePods)
		if !ok {
			return nil
		}
		away := len(deletion.Pods)
		for _, g := range w.Resource.Status.ProcessGroups {
			if g.ProcessClass == v1beta2.ProcessClassStorage && w.Pods[g.PodName(w.Resource)] == nil {
				away++
			}
		}
		most = max(most, away)
		return nil
	}
	return &most
}
