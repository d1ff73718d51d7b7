package objects

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// ImageTypeOf is the image type that a pod was created with.
func ImageTypeOf(pod *corev1.Pod) v1beta2.ImageType {
	if t := pod.Annotations[v1beta2.AnnotationImageType]; t != "" {
		return v1beta2.ImageType(t)
	}
	return v1beta2.ImageTypeSplit // pods older than the annotation
}

// PublicIPSourceOf is where a pod's public IP comes from.
func PublicIPSourceOf(pod *corev1.Pod) v1beta2.PublicIPSource {
	if source := pod.Annotations[v1beta2.AnnotationPublicIPSource]; source != "" {
		return v1beta2.PublicIPSource(source)
	}
	return v1beta2.PublicIPSourcePod
}

// serversSuffix ends the names of the variables with the number of processes of a pod.
const serversSuffix = "_SERVERS_PER_POD"

// ServersPerPodOf is how many processes of the class a pod was created for.
func ServersPerPodOf(pod *corev1.Pod, class v1beta2.ProcessClass) (int, error) {
	for i := range pod.Spec.Containers {
		for _, v := range pod.Spec.Containers[i].Env {
			if !strings.HasSuffix(v.Name, serversSuffix) || v.Name != class.ServersPerPodVariable() { // most are none of any class
				continue
			}
			n, err := strconv.Atoi(v.Value)
			if err != nil || n < 1 {
				return 0, &PodValueError{Pod: pod.Name, Variable: v.Name, Problem: fmt.Sprintf("is %s: must be a number of processes", quoted(v.Value))}
			}
			return n, nil
		}
	}
	return 1, nil
}

// IPFamilyOf is which of its IPs a pod has to use: 4, 6, or 0 for the first one. Pods older
// than the annotation have it in their arguments.
func IPFamilyOf(pod *corev1.Pod) (int, error) {
	if text, found := pod.Annotations[v1beta2.AnnotationIPFamily]; found {
		return parseFamily(pod, text)
	}
	if ImageTypeOf(pod) == v1beta2.ImageTypeUnified {
		return familyOfConfiguration(pod)
	}
	for c := range containers(&pod.Spec) {
		if i := slices.Index(c.Args, "--public-ip-family"); i >= 0 && i+1 < len(c.Args) {
			return parseFamily(pod, c.Args[i+1])
		}
	}
	return 0, nil
}

// containers are the containers of a pod, and then its init containers. They are large, so
// they are not copied.
func containers(spec *corev1.PodSpec) iter.Seq[*corev1.Container] {
	return func(yield func(*corev1.Container) bool) {
		for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

func parseFamily(pod *corev1.Pod, text string) (int, error) {
	switch text {
	case "0", "4", "6":
		return int(text[0] - '0'), nil
	default:
		return 0, &PodValueError{Pod: pod.Name, Annotation: v1beta2.AnnotationIPFamily, Problem: fmt.Sprintf("is %s: must be 0, 4 or 6", quoted(text))}
	}
}

func familyOfConfiguration(pod *corev1.Pod) (int, error) {
	m, known, err := currentConfiguration(pod)
	if err != nil {
		return 0, err
	}
	if !known {
		return 0, &PodValueError{Pod: pod.Name, Annotation: v1beta2.AnnotationIPFamily, Problem: "does not exist, and its monitor has not reported: the IP family is unknown"}
	}
	for _, a := range m.Arguments {
		for _, part := range a.Values {
			if part.Type == fdb.ArgumentIPList {
				return part.IPFamily, nil
			}
		}
	}
	return 0, nil
}

// currentConfiguration is what a unified pod's monitor has accepted; known is
// false while it has not reported anything.
func currentConfiguration(pod *corev1.Pod) (m fdb.MonitorConfiguration, known bool, err error) {
	text, found := pod.Annotations[v1beta2.AnnotationCurrentConfiguration]
	if !found {
		return fdb.MonitorConfiguration{}, false, nil
	}
	m, err = fdb.ParseMonitorConfiguration([]byte(text))
	if err != nil {
		return fdb.MonitorConfiguration{}, false, notJSON(pod, v1beta2.AnnotationCurrentConfiguration)
	}
	return m, true, nil
}

// AwaitsClusterFile reports whether the monitor of a unified pod has accepted a configuration from
// before there was a cluster file, and no later one: no tool of the pod can connect yet. False
// where the pod does not report its configuration.
func AwaitsClusterFile(pod *corev1.Pod) bool {
	m, known, err := currentConfiguration(pod)
	return err == nil && known && !m.ServersRun()
}

// Variables are what a unified pod's monitor substitutes in the arguments of the
// processes. They are nil while it has not reported any.
func Variables(pod *corev1.Pod) (map[string]string, error) {
	text, found := pod.Annotations[v1beta2.AnnotationEnvironment]
	if !found {
		return nil, nil
	}
	var variables map[string]string
	if err := json.Unmarshal([]byte(text), &variables); err != nil {
		return nil, notJSON(pod, v1beta2.AnnotationEnvironment)
	}
	return variables, nil
}

// PublicIPs are the addresses, without ports, of the processes of a pod; none before the pod
// has one.
func PublicIPs(pod *corev1.Pod) ([]string, error) {
	if PublicIPSourceOf(pod) == v1beta2.PublicIPSourceService {
		return serviceIP(pod)
	}
	family, err := IPFamilyOf(pod)
	if err != nil {
		return nil, err
	}
	if family == 0 {
		return nonEmpty(pod.Status.PodIP), nil
	}
	var ips []string
	for _, ip := range pod.Status.PodIPs {
		if ip.IP != "" && familyOf(ip.IP) == family {
			ips = append(ips, ip.IP)
		}
	}
	return ips, nil
}

func nonEmpty(ip string) []string {
	if ip == "" {
		return nil
	}
	return []string{ip}
}

// familyOf returns the family of an IP by its form.
func familyOf(ip string) int {
	if strings.Contains(ip, ":") {
		return 6
	}
	return 4
}

// HasListenIP reports whether a pod has the variable of the IP to listen on, so that its
// processes can have a listen address.
func HasListenIP(pod *corev1.Pod) bool {
	for _, name := range []string{v1beta2.ContainerMain, v1beta2.ContainerSidecar} {
		if c := container(pod.Spec.Containers, name); c != nil && hasVariable(c, v1beta2.EnvPodIP) {
			return true
		}
	}
	return false
}

func hasVariable(c *corev1.Container, name string) bool {
	return slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == name })
}

// CrashLoops reports whether a container of a pod was created to fail on purpose.
func CrashLoops(c *corev1.Container) bool { return len(c.Args) > 0 && c.Args[0] == crashLoop }
