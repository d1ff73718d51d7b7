package objects

import corev1 "k8s.io/api/core/v1"

// PodRequests returns the resource requests of a pod: those of its containers and sidecars together,
// or of any one init container, whichever is more.
func PodRequests(pod *corev1.Pod) corev1.ResourceList {
	sum := pod.Spec.Overhead.DeepCopy()
	if sum == nil {
		sum = corev1.ResourceList{}
	}
	add := func(what corev1.ResourceList) {
		for name, n := range what {
			total := sum[name]
			total.Add(n)
			sum[name] = total
		}
	}
	for _, c := range pod.Spec.Containers {
		add(c.Resources.Requests)
	}
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c.Resources.Requests)
		}
	}
	for _, c := range pod.Spec.InitContainers {
		for name, n := range c.Resources.Requests {
			if total := sum[name]; total.Cmp(n) < 0 {
				sum[name] = n
			}
		}
	}
	return sum
}
