package node

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// facts are what a pod's status is computed from.
type facts struct {
	address    netip.Addr // invalid while the pod has none
	started    metav1.Time
	inits      []corev1.ContainerStatus
	containers []corev1.ContainerStatus
	notReady   bool // whatever the containers say
	unstarted  bool // whatever ran before
	now        metav1.Time
}

// status computes a pod's status; what the agent does not decide is kept.
func status(pod *corev1.Pod, f facts) corev1.PodStatus {
	s := *pod.Status.DeepCopy()
	s.HostIP, s.HostIPs = "127.0.0.1", []corev1.HostIP{{IP: "127.0.0.1"}}
	s.StartTime = &f.started
	s.QOSClass = pod.Status.QOSClass
	if f.address.IsValid() {
		s.PodIP, s.PodIPs = f.address.String(), []corev1.PodIP{{IP: f.address.String()}}
	}
	s.InitContainerStatuses, s.ContainerStatuses = f.inits, f.containers
	initialized := initsDone(pod, f.inits)
	containersReady := initialized && allReady(f.containers) && !f.notReady
	s.Phase = phase(pod, initialized && !f.unstarted, f.containers)
	for _, c := range []struct {
		kind corev1.PodConditionType
		ok   bool
	}{
		{corev1.PodReadyToStartContainers, f.address.IsValid()},
		{corev1.PodInitialized, initialized},
		{corev1.PodReady, containersReady},
		{corev1.ContainersReady, containersReady},
		{corev1.PodScheduled, true},
	} {
		setPodCondition(&s, c.kind, c.ok, f.now)
	}
	return s
}

// initsDone reports whether every init container has done its work: one that
// always restarts has when it started.
func initsDone(pod *corev1.Pod, inits []corev1.ContainerStatus) bool {
	for i, s := range inits {
		if restartable(pod.Spec.InitContainers[i]) {
			if s.Started == nil || !*s.Started {
				return false
			}
			continue
		}
		if s.State.Terminated == nil || s.State.Terminated.ExitCode != 0 {
			return false
		}
	}
	return len(inits) == len(pod.Spec.InitContainers)
}

// restartable reports whether an init container is a sidecar.
func restartable(c corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func allReady(statuses []corev1.ContainerStatus) bool {
	return len(statuses) > 0 && !slices.ContainsFunc(statuses, func(s corev1.ContainerStatus) bool { return !s.Ready })
}

func phase(pod *corev1.Pod, initialized bool, statuses []corev1.ContainerStatus) corev1.PodPhase {
	var begun, over, failed int
	for _, s := range statuses {
		if s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil {
			begun++
		}
		if t := s.State.Terminated; t != nil {
			over++
			if t.ExitCode != 0 {
				failed++
			}
		}
	}
	switch {
	case !initialized || begun < len(statuses):
		return corev1.PodPending
	case over < len(statuses):
		return corev1.PodRunning
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways && pod.DeletionTimestamp == nil:
		return corev1.PodRunning
	case failed > 0:
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

func setPodCondition(s *corev1.PodStatus, kind corev1.PodConditionType, ok bool, now metav1.Time) {
	c := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, LastTransitionTime: now}
	if ok {
		c.Status = corev1.ConditionTrue
	} else if kind == corev1.PodReady || kind == corev1.ContainersReady {
		c.Reason = "ContainersNotReady"
	}
	for i, old := range s.Conditions {
		if old.Type != kind {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		s.Conditions[i] = c
		return
	}
	s.Conditions = append(s.Conditions, c)
}

// statusPatch is the change from the status the API server has to the next
// one, for that very pod; nil when there is none.
func statusPatch(pod *corev1.Pod, next corev1.PodStatus) ([]byte, error) {
	before, err := json.Marshal(corev1.Pod{Status: pod.Status})
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(corev1.Pod{Status: next})
	if err != nil {
		return nil, err
	}
	if bytes.Equal(before, after) {
		return nil, nil
	}
	after, err = json.Marshal(corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: pod.UID}, Status: next})
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
}
