package forecast_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/sim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// Observations have the pods of a simulation themselves, and a forecast begins with those of another.
func TestForecastsDoNotModifyTheObservedSnapshot(t *testing.T) {
	for change, with := range map[string]func(*sim.Cluster){
		"upgrade": func(w *sim.Cluster) { w.Resource.Spec.Version = "7.4.6" },
		"knob":    setKnob,
		"CPU":     setCPU,
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			w := settled(t, nil)
			s := observed(t, w)
			pods, volumes := map[string]*corev1.Pod{}, map[string]*corev1.PersistentVolumeClaim{}
			for name, pod := range s.Pods {
				pods[name] = pod.DeepCopy()
			}
			for name, claim := range s.Volumes {
				volumes[name] = claim.DeepCopy()
			}
			with(w)
			w.Resource.Generation++
			forecastOf(t, w)
			happens(t, w, stages.Cluster())
			if diff := cmp.Diff(pods, s.Pods); diff != "" {
				t.Errorf("pods: %s", diff)
			}
			if diff := cmp.Diff(volumes, s.Volumes); diff != "" {
				t.Errorf("PVCs: %s", diff)
			}
		})
	}
}
