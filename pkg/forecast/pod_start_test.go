package forecast_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
)

// started lets the pods of a snapshot have started so long after their creation, one after the other.
func started(s plan.Snapshot, took ...time.Duration) {
	i := 0
	for name := range s.Pods {
		pod := s.Pods[name].DeepCopy()
		for j := range pod.Status.ContainerStatuses {
			if c := &pod.Status.ContainerStatuses[j]; c.Name == v1beta2.ContainerMain {
				c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(pod.CreationTimestamp.Add(took[i%len(took)]))}}
			}
		}
		s.Pods[name] = pod
		i++
	}
}

// In a forecast new pods start as quickly as those of the cluster did on nodes that had their image.
func TestAForecastTakesThePodStartFromThePodsOfTheCluster(t *testing.T) {
	for name, tc := range map[string]struct {
		took     []time.Duration
		restarts int32
		want     float64
	}{
		"all alike":                    {took: []time.Duration{4 * time.Second}, want: 4},
		"half of them pulled an image": {took: []time.Duration{4 * time.Second, time.Minute}, want: 4},
		"at once":                      {took: []time.Duration{0}, want: 1},
		"containers that restarted prove nothing": {took: []time.Duration{4 * time.Second}, restarts: 1, want: 20},
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, nil)
			w.Resource.Spec.ProcessCounts.Storage++
			s := observed(t, w)
			started(s, tc.took...)
			for _, pod := range s.Pods {
				for i := range pod.Status.ContainerStatuses {
					pod.Status.ContainerStatuses[i].RestartCount = tc.restarts
				}
			}
			if got := played(t, s).Assumed.PodStartSeconds; got != tc.want {
				t.Errorf("pods start within %vs, want %vs", got, tc.want)
			}
		})
	}
}

// An image that no pod has is pulled first.
func TestAForecastLetsPodsWithANewImageStartLater(t *testing.T) {
	seconds := map[bool]float64{}
	for _, known := range []bool{true, false} {
		w := settled(t, nil)
		w.Resource.Spec.ProcessCounts.Storage++
		s := observed(t, w)
		started(s, time.Second)
		for _, pod := range s.Pods {
			for i := range pod.Spec.Containers {
				if !known {
					pod.Spec.Containers[i].Image += "-other"
				}
			}
		}
		seconds[known] = played(t, s).Seconds
	}
	if seconds[false]-seconds[true] < 10 {
		t.Errorf("complete after %vs with an image that pods have, and after %vs with another one", seconds[true], seconds[false])
	}
}

func played(t *testing.T, s plan.Snapshot) planned.Forecast {
	t.Helper()
	f, err := forecast.Play(t.Context(), forecast.Request{Observed: s, Stages: stages.Cluster(), Seed: 42})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
