package readings

import (
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// DeletablePod returns a group's pod if it may be deleted and recreated; nil otherwise. It
// may not when the group is being removed, since it would not be recreated; when it already
// terminates; when a user isolated it for debugging; and when its labels name another group.
func DeletablePod(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) *corev1.Pod {
	pod := s.Pod(g)
	switch {
	case pod == nil, g.IsRemovable(), g.HasCondition(v1beta2.ConditionResourcesTerminating):
		return nil
	case pod.DeletionTimestamp != nil, pod.Annotations[v1beta2.AnnotationIsolateProcessGroup] == "true":
		return nil
	case pod.Labels[s.Cluster.ProcessGroupIDLabels()[0]] != string(g.ProcessGroupID):
		return nil
	}
	return pod
}

// ThisPod returns the pod as a target of a deletion.
func ThisPod(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) plan.PodOfGroup {
	return plan.PodOfGroup{Group: g.ProcessGroupID, Name: pod.Name, UID: pod.UID}
}

// HasOtherFaults compares the faults of a pod with those of the one that would replace it. A
// fault that comes from the pod template is in both, so that no pod is deleted repeatedly.
func HasOtherFaults(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) bool {
	have := objects.Faults(&pod.Spec)
	asked := CrashesOnPurpose(c, g) || AllCrashOnPurpose(c) || slices.Contains(c.Spec.Buggify.NoSchedule, g.ProcessGroupID)
	if len(have) == 0 && !asked {
		return false // spares building the specs of all pods of a cluster without faults
	}
	want, err := objects.PodSpec(c, g)
	return err == nil && !slices.Equal(have, objects.Faults(want))
}

// MinTerminalPodAge is the minimum age of an ended pod before it is deleted.
// Default 30 s; source: the operator's flag minimum-age-for-terminal-pod-deletion.
const MinTerminalPodAge = 30 * time.Second

// HasEnded reports whether a pod is in phase Failed or Succeeded: no container of it runs again.
func HasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// AllCrashOnPurpose reports whether spec.buggify makes containers of all process groups crash.
func AllCrashOnPurpose(c *v1beta2.FoundationDBCluster) bool {
	return slices.ContainsFunc(c.Spec.Buggify.CrashLoopContainers, func(o v1beta2.CrashLoopContainerObject) bool {
		return slices.Contains(o.Targets, v1beta2.AllProcessGroups)
	})
}

// CrashesOnPurpose reports whether spec.buggify makes containers of a group crash by its ID.
func CrashesOnPurpose(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) bool {
	return slices.ContainsFunc(c.Spec.Buggify.CrashLoopContainers, func(o v1beta2.CrashLoopContainerObject) bool {
		return slices.Contains(o.Targets, g.ProcessGroupID)
	})
}

// SidecarImage returns the image of a pod's sidecar; empty without a sidecar.
func SidecarImage(pod *corev1.Pod) string {
	for _, container := range pod.Spec.Containers {
		if container.Name == v1beta2.ContainerSidecar {
			return container.Image
		}
	}
	return ""
}

// MainVersion returns the version in the image of a pod's main container; zero where it has
// none.
func MainVersion(pod *corev1.Pod) fdb.Version {
	version, _ := fdb.ParseVersion(path.Base(MainImage(pod))) // an image without a version proves nothing
	return version
}

// MainImage returns the image of a pod's main container; empty where it has no such container.
func MainImage(pod *corev1.Pod) string {
	for _, container := range pod.Spec.Containers {
		if container.Name == v1beta2.ContainerMain {
			return container.Image
		}
	}
	return ""
}

// Released returns a process' version without the suffix of builds that are not releases.
func Released(p fdb.Process) string { return strings.TrimSuffix(p.Version, "-PRERELEASE") }
