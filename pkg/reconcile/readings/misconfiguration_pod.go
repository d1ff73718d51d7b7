package readings

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// anyGrew reports whether containers together request more CPU or memory now.
func anyGrew(have, want []corev1.Container) bool {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if before, now := requested(have, name), requested(want, name); now.Cmp(before) > 0 {
			return true
		}
	}
	return false
}

func requested(containers []corev1.Container, name corev1.ResourceName) resource.Quantity {
	var sum resource.Quantity
	for _, c := range containers {
		sum.Add(c.Resources.Requests[name])
	}
	return sum
}

// nodeSelectorDiffers: the pod may have to move to a node where its volume cannot follow.
func nodeSelectorDiffers(i Inspection, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	want, have := i.s.Cluster.Settings(g.ProcessClass).PodTemplate.Spec.NodeSelector, pod.Spec.NodeSelector
	switch added := beyond(have, want); {
	case maps.Equal(have, want):
		return "", nil
	case len(beyond(want, have)) == 0: // the recorded hash does not tell which field of the spec changed
		return fmt.Sprintf("the pod spec differs, and the pod has the node selector %s, which the spec does not have: it was removed from the spec, or admission added it", phrase.List(added)), nil
	default:
		return "the node selector differs", nil
	}
}

// beyond returns the entries that the first map has and the second has not, as key=value, in order.
func beyond(have, want map[string]string) []string {
	var more []string
	for _, key := range slices.Sorted(maps.Keys(have)) {
		if value, is := want[key]; !is || value != have[key] {
			more = append(more, key+"="+have[key])
		}
	}
	return more
}

// imageTypeDiffers: with one storage process per pod the two image types lay out the data
// directory in different ways. It applies to every class.
func imageTypeDiffers(i Inspection, _ *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	have, want := objects.ImageTypeOf(pod), i.s.Cluster.ImageType()
	if have != want && i.s.Cluster.ServersPerPod(v1beta2.ProcessClassStorage) == 1 {
		return fmt.Sprintf("the image type is %s and not %s", have, want), nil
	}
	return "", nil
}

// ipFamilyDiffers: the pod uses addresses of another family.
func ipFamilyDiffers(i Inspection, _ *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	have, err := objects.IPFamilyOf(pod)
	if err != nil {
		return "", err
	}
	if have != i.s.Cluster.PodIPFamily() {
		return "the IP family differs", nil
	}
	return "", nil
}

// strategyReplaces: the spec replaces pods of this class, instead of recreating them, whatever
// differs in their spec. A pod that never started has nothing to move elsewhere, and is recreated.
func strategyReplaces(i Inspection, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	if i.s.Cluster.ReplacesPodsOf(g.ProcessClass) && !NeverStarted(pod) {
		return fmt.Sprintf("the pod spec differs, and spec.automationOptions.podUpdateStrategy is %s", i.s.Cluster.PodUpdateStrategy()), nil
	}
	return "", nil
}

// securityContextDiffers: the files on the volume may belong to another user or group than the
// processes will run as. Only with the option for it.
func securityContextDiffers(i Inspection, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (string, error) {
	if !i.options.ReplaceOnSecurityContextChange {
		return "", nil
	}
	want, err := objects.PodSpec(i.s.Cluster, g)
	if err != nil {
		return "", err
	}
	if fileGroupDiffers(pod.Spec.SecurityContext, want.SecurityContext) || userDiffers(&pod.Spec, want) {
		return "the security context differs", nil
	}
	return "", nil
}

// fileGroupDiffers compares the fields that decide about the owner of a volume's files. A
// missing group differs from group 0.
func fileGroupDiffers(have, want *corev1.PodSecurityContext) bool {
	a, b := ptr.Deref(have, corev1.PodSecurityContext{}), ptr.Deref(want, corev1.PodSecurityContext{})
	return !ptr.Equal(a.FSGroup, b.FSGroup) || !ptr.Equal(a.FSGroupChangePolicy, b.FSGroupChangePolicy)
}

// userDiffers compares the users and groups that the containers run as, of those that both
// specs have.
func userDiffers(have, want *corev1.PodSpec) bool {
	return slices.ContainsFunc(have.Containers, func(c corev1.Container) bool {
		n := slices.IndexFunc(want.Containers, func(other corev1.Container) bool { return other.Name == c.Name })
		if n < 0 {
			return false
		}
		a, b := runsAs(have, c), runsAs(want, want.Containers[n])
		return !ptr.Equal(a.user, b.user) || !ptr.Equal(a.group, b.group)
	})
}

// identity is the user and group of a container; nil where neither it nor its pod sets them.
type identity struct{ user, group *int64 }

// runsAs returns the identity in the container, or else in its pod.
func runsAs(spec *corev1.PodSpec, c corev1.Container) identity {
	pod, own := ptr.Deref(spec.SecurityContext, corev1.PodSecurityContext{}), ptr.Deref(c.SecurityContext, corev1.SecurityContext{})
	id := identity{own.RunAsUser, own.RunAsGroup}
	if id.user == nil {
		id.user = pod.RunAsUser
	}
	if id.group == nil {
		id.group = pod.RunAsGroup
	}
	return id
}

// MergeMetadata adds the labels and annotations of want that have lacks, and reports whether there
// were any. It changes have, a copy that the caller owns.
func MergeMetadata(have *metav1.ObjectMeta, want metav1.ObjectMeta) bool {
	labels, annotations := objects.MissingMetadata(*have, want)
	for key, value := range labels {
		metav1.SetMetaDataLabel(have, key, value)
	}
	for key, value := range annotations {
		metav1.SetMetaDataAnnotation(have, key, value)
	}
	return len(labels)+len(annotations) > 0
}

// TemplateAllowed checks whether the restrictions of a run forbid anything of the pod templates of a resource.
func TemplateAllowed(forbidden []objects.Forbidden) plan.Check {
	c := plan.Check{ID: plan.CheckTemplateAllowed, Question: "do the restrictions of the run allow the pod templates?"}
	c.OK, c.Evidence = true, "they forbid nothing of them"
	if len(forbidden) > 0 {
		c.OK, c.Evidence = false, objects.ForbiddenText(forbidden)
	}
	return c
}

// TemplatesAllowed returns the decision that ends a pass if anything is forbidden.
func TemplatesAllowed(forbidden []objects.Forbidden) plan.Decision {
	c := TemplateAllowed(forbidden)
	d := plan.Decision{Checks: []plan.Check{c}}
	if !c.OK {
		d.Hold = &plan.Hold{Code: plan.HoldTemplateForbidden, Manual: true, Reason: c.Evidence, Then: plan.EndPass}
	}
	return d
}
