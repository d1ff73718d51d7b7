package sim

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// gracePeriod is that of deleted pods.
	gracePeriod = 30 * time.Second
	// endsLate is after its grace period when a pod that still exists does not end by itself.
	endsLate = 30 * time.Second
)

// deletePod deletes a pod as the API server does. Where no kubelet confirms its end, or a finalizer
// keeps it, it stays and is terminating.
func (w *Cluster) deletePod(name string) {
	pod := w.Pods[name]
	if pod == nil || !w.Unending[name] && (!w.observed || !w.down[pod.Spec.NodeName]) {
		w.stopPod(name)
		return
	}
	if pod.DeletionTimestamp == nil {
		w.edited(name).DeletionTimestamp = new(metav1.NewTime(w.Now().Add(gracePeriod)))
	}
	w.Broken[name] = true
	if w.running[name] != nil {
		w.KillServers(name)
	}
}

// endsByItself reports whether a pod is being deleted and soon gone: its node works, and it is not
// overdue.
func (w *Cluster) endsByItself(pod *corev1.Pod, now time.Time) bool {
	return pod.DeletionTimestamp != nil && !w.down[pod.Spec.NodeName] && now.Before(pod.DeletionTimestamp.Add(endsLate))
}

// cannotStart reports whether a pod has not started and a container of it waits for something that
// time does not bring: its image, its configuration, a program that ends at once.
func cannotStart(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodRunning {
		return false // what does not report is seen by its processes
	}
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && slices.Contains(notStarting, c.State.Waiting.Reason)
	})
}

// notStarting are the reasons of the kubelet for which a container does not start.
var notStarting = []string{
	"CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "ErrImageNeverPull", "ErrImagePull", "ImageInspectError",
	"ImagePullBackOff", "InvalidImageName", "RunContainerError",
}

// notPulled are the reasons that concern the image of a container.
var notPulled = []string{"ErrImageNeverPull", "ErrImagePull", "ImageInspectError", "ImagePullBackOff", "InvalidImageName"}

// adoptImages learns which images cannot be pulled: those that a container waits for, and that none
// runs. A new pod with one of them does not start either.
func (w *Cluster) adoptImages() {
	w.badImages = map[string]bool{}
	runs := map[string]bool{}
	for _, pod := range w.Pods {
		for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			runs[c.Image] = runs[c.Image] || c.State.Running != nil
			if c.State.Waiting != nil && slices.Contains(notPulled, c.State.Waiting.Reason) {
				w.badImages[c.Image] = true
			}
		}
	}
	maps.DeleteFunc(w.badImages, func(image string, _ bool) bool { return image == "" || runs[image] })
}

// cannotPull reports whether a pod has a container whose image cannot be pulled.
func (w *Cluster) cannotPull(pod *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(c corev1.Container) bool { return w.badImages[c.Image] })
}
