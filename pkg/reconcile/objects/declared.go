package objects

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// DeclaredVariables are a container's environment variables, as far as the pod's own
// spec, metadata and status have their values.
func DeclaredVariables(pod *corev1.Pod, name string) map[string]string {
	variables := map[string]string{}
	c := container(pod.Spec.Containers, name)
	if c == nil {
		return variables
	}
	for _, v := range c.Env {
		if value, known := declaredValue(pod, v); known {
			variables[v.Name] = value
		}
	}
	return variables
}

func declaredValue(pod *corev1.Pod, v corev1.EnvVar) (value string, known bool) {
	if v.ValueFrom == nil {
		return v.Value, true
	}
	if v.ValueFrom.FieldRef == nil {
		return "", false
	}
	path := v.ValueFrom.FieldRef.FieldPath
	if key, ok := strings.CutPrefix(path, "metadata.annotations['"); ok {
		value, known = pod.Annotations[strings.TrimSuffix(key, "']")]
		return value, known
	}
	if key, ok := strings.CutPrefix(path, "metadata.labels['"); ok {
		value, known = pod.Labels[strings.TrimSuffix(key, "']")]
		return value, known
	}
	value = podField(pod, path)
	return value, value != ""
}

// podField is the value of a field path for a variable of a container; empty when
// it has none yet.
func podField(pod *corev1.Pod, path string) string {
	switch path {
	case "status.podIP":
		return pod.Status.PodIP
	case "status.podIPs":
		return joinIPs(pod.Status.PodIPs)
	case "status.hostIP":
		return pod.Status.HostIP
	case "spec.nodeName":
		return pod.Spec.NodeName
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName
	case "metadata.name":
		return pod.Name
	case "metadata.namespace":
		return pod.Namespace
	case "metadata.uid":
		return string(pod.UID)
	default:
		return ""
	}
}

func joinIPs(ips []corev1.PodIP) string {
	words := make([]string, len(ips))
	for i, ip := range ips {
		words[i] = ip.IP
	}
	return strings.Join(words, ",")
}
