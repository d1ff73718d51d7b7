package forecast_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/forecast"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
)

// A dead group does not come back in a forecast: its pod stays as it was observed, and its replacement
// waits until the database may count it as lost.
func TestAForecastOfTheReplacementOfADeadGroupTakesAsLongAsItDoes(t *testing.T) {
	waits := func(reason string) func(*plan.Snapshot, *corev1.Pod) {
		return func(_ *plan.Snapshot, pod *corev1.Pod) {
			pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodPending, "", nil
			for i := range pod.Status.ContainerStatuses {
				c := &pod.Status.ContainerStatuses[i]
				c.Ready, c.Image, c.State = false, pod.Spec.Containers[i].Image, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
			}
		}
	}
	for name, tc := range map[string]struct {
		given func(*plan.Snapshot, *corev1.Pod)
		end   planned.ForecastEnd
	}{
		"its image cannot be pulled":      {given: waits("ImagePullBackOff"), end: planned.ForecastComplete},
		"its configuration is incomplete": {given: waits("CreateContainerConfigError"), end: planned.ForecastComplete},
		"its init container ends at once": {given: waits("CrashLoopBackOff"), end: planned.ForecastComplete},
		"its pod does not terminate": {given: func(s *plan.Snapshot, pod *corev1.Pod) {
			pod.DeletionTimestamp = new(metav1.NewTime(s.Now.Add(-time.Minute)))
		}, end: planned.ForecastBlocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := settled(t, nil)
			id := groupOf(w, v1beta2.ProcessClassStorage)
			lost := w.Resource.ProcessGroup(id).PodName(w.Resource)
			w.Broken[lost] = true
			w.KillServers(lost)
			w.Tick(30 * time.Second)
			s := observed(t, w)
			pod := s.Pods[lost].DeepCopy()
			s.Pods[lost] = pod
			for other, p := range s.Pods { // whose containers run, as the kubelet reports
				if other != lost {
					p = p.DeepCopy()
					for i := range p.Status.ContainerStatuses {
						p.Status.ContainerStatuses[i].Image = p.Spec.Containers[i].Image
						p.Status.ContainerStatuses[i].State.Running = &corev1.ContainerStateRunning{}
					}
					s.Pods[other] = p
				}
			}
			tc.given(&s, pod)
			f, err := forecast.Play(t.Context(), forecast.Request{
				Observed: s, Stages: stages.Replacing(operations.ReplaceGroups(operations.Replacement{Groups: []v1beta2.ProcessGroupID{id}, Max: 1})),
				Seed: 42, PodStart: time.Second,
			})
			if err != nil {
				t.Fatal(err)
			}
			waited := slices.ContainsFunc(f.Waits, func(w planned.ForecastWait) bool { return w.Stage == plan.StageExcludeInstances && w.Seconds > 200 })
			if f.End != tc.end || f.Seconds < 240 || !waited {
				t.Error(summary(f))
			}
		})
	}
}
