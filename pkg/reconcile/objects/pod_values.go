package objects

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

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
	if text, found := pod.Annotations[v1beta2.AnnotationCurrentConfiguration]; found && !json.Valid([]byte(text)) {
		return notJSON(pod, v1beta2.AnnotationCurrentConfiguration)
	}
	_, err := Variables(pod)
	return err
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
