package objects

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/lru"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
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

// PodValueError is a value on a pod by which its processes were started, and cannot be used. What follows from it is
// unknown for this pod, and for no other.
type PodValueError struct {
	Pod string
	// Annotation is the key of the annotation; empty for a variable of a container.
	Annotation string
	// Variable is the name of the variable.
	Variable string
	// Problem is the value and what it must be.
	Problem string
}

// Error implements error.
func (e *PodValueError) Error() string {
	if e.Annotation != "" {
		return fmt.Sprintf("annotation %s of pod %s %s", e.Annotation, e.Pod, e.Problem)
	}
	return fmt.Sprintf("variable %s of pod %s %s", e.Variable, e.Pod, e.Problem)
}

// IsPodValue reports whether an error is about a value on a pod, and not about the spec.
func IsPodValue(err error) bool {
	_, is := errors.AsType[*PodValueError](err)
	return is
}

// ValidatePod returns an error for the first value on a pod that cannot be used; nil for none. The pod is left alone until the
// value is corrected: how it was started decides how it is changed.
func ValidatePod(pod *corev1.Pod, class v1beta2.ProcessClass) error {
	if t := ImageTypeOf(pod); t != v1beta2.ImageTypeSplit && t != v1beta2.ImageTypeUnified {
		return notOneOf(pod, v1beta2.AnnotationImageType, v1beta2.ImageTypeSplit, v1beta2.ImageTypeUnified)
	}
	if source := PublicIPSourceOf(pod); source != v1beta2.PublicIPSourcePod && source != v1beta2.PublicIPSourceService {
		return notOneOf(pod, v1beta2.AnnotationPublicIPSource, v1beta2.PublicIPSourcePod, v1beta2.PublicIPSourceService)
	}
	if _, err := ServersPerPodOf(pod, class); err != nil {
		return err
	}
	if err := validateReport(pod); err != nil {
		return err
	}
	if _, found := pod.Annotations[v1beta2.AnnotationIPFamily]; found || ImageTypeOf(pod) == v1beta2.ImageTypeSplit {
		if _, err := IPFamilyOf(pod); err != nil {
			return err
		}
	}
	if PublicIPSourceOf(pod) == v1beta2.PublicIPSourceService {
		_, err := PublicIPs(pod)
		return err
	}
	return nil
}

// validateReport validates what the monitor of a unified pod reports of itself.
func validateReport(pod *corev1.Pod) error {
	if ImageTypeOf(pod) != v1beta2.ImageTypeUnified {
		return nil
	}
	for _, annotation := range []string{v1beta2.AnnotationCurrentConfiguration, v1beta2.AnnotationEnvironment} {
		if text, found := pod.Annotations[annotation]; found && !readable(report{annotation, text}) {
			return notJSON(pod, annotation)
		}
	}
	return nil
}

// report is what a monitor reports in an annotation.
type report struct{ annotation, text string }

// readings remembers which reports can be read. A pass validates every pod several times, a forecast in each of its
// passes, and reports rarely change: two for each of 2,000 pods.
var readings = lru.New(4000)

// readable reports whether a report can be read.
func readable(r report) bool {
	if known, found := readings.Get(r); found {
		return known.(bool)
	}
	var can bool
	if r.annotation == v1beta2.AnnotationEnvironment {
		can = json.Unmarshal([]byte(r.text), new(map[string]string)) == nil
	} else {
		can = json.Valid([]byte(r.text))
	}
	readings.Add(r, can)
	return can
}

func notOneOf[T ~string](pod *corev1.Pod, annotation string, one, other T) error {
	return &PodValueError{Pod: pod.Name, Annotation: annotation, Problem: fmt.Sprintf("is %s: must be %s or %s", quoted(pod.Annotations[annotation]), one, other)}
}

// maxShown is how many bytes of a value are shown.
const maxShown = 60

// quoted quotes a value that anyone with the right to change pods has written.
func quoted(value string) string {
	return fmt.Sprintf("%q", phrase.Truncated(value, maxShown))
}

// notJSON is an annotation that a monitor writes as JSON. Its value may have secrets, and is not shown.
func notJSON(pod *corev1.Pod, annotation string) error {
	return &PodValueError{Pod: pod.Name, Annotation: annotation, Problem: "must be the JSON that a monitor reports"}
}

// serviceIP returns the public IP that a pod has from its service; none before it has one.
func serviceIP(pod *corev1.Pod) ([]string, error) {
	ip := pod.Annotations[v1beta2.AnnotationPublicIP]
	if ip == "" {
		return nil, nil
	}
	if len(validation.IsValidIP(nil, ip)) > 0 {
		return nil, &PodValueError{Pod: pod.Name, Annotation: v1beta2.AnnotationPublicIP, Problem: fmt.Sprintf("is %s: must be an IP address", quoted(ip))}
	}
	return []string{ip}, nil
}

// InvalidValue returns what ValidatePod finds; nil for nothing.
func InvalidValue(pod *corev1.Pod, class v1beta2.ProcessClass) *PodValueError {
	invalid, _ := errors.AsType[*PodValueError](ValidatePod(pod, class))
	return invalid
}

// CreationAnnotations returns the annotations that record how a pod was created, with the values that they had then; nil for a
// pod that was created from another spec than the current one.
func CreationAnnotations(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) map[string]string {
	hash, err := NewSpecHashes(c).Of(g)
	if err != nil || hash != pod.Annotations[v1beta2.AnnotationLastAppliedSpec] {
		return nil
	}
	return creationRecords(c, hash)
}

// IsUnready reports whether the conditions of a pod have Ready as false. When a node stops
// reporting, Kubernetes sets that on its pods, and leaves the last state of their containers.
func IsUnready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue
	})
}

// Serves reports whether a pod runs, is not being deleted, and is not unready.
func Serves(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning && !IsUnready(pod)
}
