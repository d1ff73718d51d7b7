package inspect

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// invalidSpec is a spec with errors: passes refuse it, so nothing is repaired.
func (f Facts) invalidSpec() []Restriction {
	var messages []string
	for _, field := range slices.Concat(f.InvalidSpec, plan.InvalidFields(objects.ValidateForPass(f.Cluster))) {
		messages = append(messages, field.Message)
	}
	if len(messages) == 0 {
		return nil
	}
	detail := phrase.SomeBy(messages, MostNamed, "; ")
	return []Restriction{{
		Code: RestrictionInvalidSpec, Effect: Unhealthy, Message: "the spec is invalid, so no pass can reconcile it: " + detail, Detail: detail,
		Ends:    "a correct value: kubectl edit foundationdbcluster",
		Command: []string{"plan", f.Cluster.Name}, Kubectl: []string{"edit", "foundationdbcluster", f.Cluster.Name},
	}}
}

// InvalidPod is a pod with a value that cannot be used: passes leave it alone, and what it would show is unknown.
type InvalidPod struct {
	Group   v1beta2.ProcessGroupID
	Pod     string
	Message string
	// Fix are the arguments of kubectl that correct the value, or replace the process group.
	Fix []string
}

// InvalidPods returns the pods with a value that cannot be used, in the order of the process groups.
func (f Facts) InvalidPods() []InvalidPod {
	var all []InvalidPod
	for _, g := range f.Groups() {
		pod := f.Pod(g)
		if pod == nil {
			continue
		}
		invalid := objects.InvalidValue(pod, g.ProcessClass)
		if invalid == nil {
			continue
		}
		one := InvalidPod{Group: g.ProcessGroupID, Pod: pod.Name, Message: invalid.Error(), Fix: []string{"fdb", "replace", f.Cluster.Name, string(g.ProcessGroupID)}}
		if value, known := f.createdWith(g, pod, invalid.Annotation); known {
			one.Fix = []string{"annotate", "pod", pod.Name, invalid.Annotation + "=" + value, "--overwrite"}
		}
		all = append(all, one)
	}
	return all
}

// createdWith returns the value that an annotation of a pod had when the pod was created; false where that is unknown.
func (f Facts) createdWith(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod, annotation string) (string, bool) {
	if annotation == v1beta2.AnnotationPublicIP {
		service := f.Services[pod.Name]
		known := service != nil && service.Spec.ClusterIP != "" && service.Spec.ClusterIP != corev1.ClusterIPNone
		if !known {
			return "", false
		}
		return service.Spec.ClusterIP, true
	}
	value, known := objects.CreationAnnotations(f.Cluster, g, pod)[annotation]
	return value, known
}

// invalidPods is the restriction by pods with a value that cannot be used.
func (f Facts) invalidPods() []Restriction {
	all := f.InvalidPods()
	if len(all) == 0 {
		return nil
	}
	messages := make([]string, len(all))
	for i, p := range all {
		messages[i] = p.Message
	}
	detail := phrase.SomeBy(messages, MostNamed, "; ")
	r := Restriction{
		Code: RestrictionInvalidPod, Effect: Unhealthy, Detail: detail,
		Message: fmt.Sprintf("passes leave %s alone: %s", phrase.Count(len(all), "pod"), detail),
		Ends:    "kubectl " + strings.Join(all[0].Fix, " "), Command: []string{"check", f.Cluster.Name},
	}
	if fix := all[0].Fix; fix[0] == "fdb" {
		r.Command = fix[1:]
	} else {
		r.Kubectl = fix
	}
	return []Restriction{r}
}
