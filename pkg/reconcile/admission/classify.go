package admission

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The labels and levels of Pod Security admission.
const (
	LabelPodSecurity = "pod-security.kubernetes.io/enforce"
	privilegedLevel  = "privileged"
)

// Cause is which rule refuses an object.
type Cause struct {
	Kind plan.RefusalKind
	// By names the objects with the rule; empty where it is unknown.
	By string
}

// Classify returns which rule of the namespace refuses an object, of which it is known that the user may create it.
// Restricted reports whether the API server accepts the same pod with the settings that the level "restricted"
// requires, which proves that Pod Security refuses it; it is called for pods in a namespace with a level only.
func Classify(facts plan.NamespaceFacts, o metav1.Object, restricted func() bool) Cause {
	if names := exhausted(facts.Quotas, o); len(names) > 0 {
		return Cause{plan.RefusedByQuota, strings.Join(names, ", ")}
	}
	if names := requiringValues(facts.Quotas, o); len(names) > 0 {
		return Cause{plan.RefusedByQuotaValues, strings.Join(names, ", ")}
	}
	if names := beyond(facts.Limits, o); len(names) > 0 {
		return Cause{plan.RefusedByLimitRange, strings.Join(names, ", ")}
	}
	if _, isPod := o.(*corev1.Pod); isPod && facts.PodSecurity != "" && facts.PodSecurity != privilegedLevel && restricted() {
		return Cause{plan.RefusedByPodSecurity, facts.PodSecurity}
	}
	return Cause{Kind: plan.RefusedByPolicy}
}

// Restricted returns a copy of a pod with the settings that the Pod Security level "restricted" requires. The
// program in it would not work; it is for dry runs.
func Restricted(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	seccomp := &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	spec := &pod.Spec
	spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), RunAsUser: new(int64(1)), SeccompProfile: seccomp}
	spec.HostNetwork, spec.HostPID, spec.HostIPC = false, false, false
	for i := range spec.Volumes {
		if spec.Volumes[i].HostPath != nil {
			spec.Volumes[i].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
		}
	}
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			restrict(&containers[i])
		}
	}
	return pod
}

func restrict(c *corev1.Container) {
	c.SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), RunAsNonRoot: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	for i := range c.Ports {
		c.Ports[i].HostPort = 0
	}
}
