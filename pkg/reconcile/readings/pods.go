package readings

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

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

// AppliedTolerations returns the action that gives a running pod the desired tolerations for lost
// nodes; nil where it has them. A taint that the user's template tolerates is left to it, and so is
// one that something else made the pod tolerate in another form.
func AppliedTolerations(group v1beta2.ProcessGroupID, pod *corev1.Pod, template *corev1.PodTemplateSpec, want []corev1.Toleration) plan.Action {
	before, _ := plan.TolerationsBefore(pod)
	a := plan.SetTolerations{Group: group, Name: pod.Name, UID: pod.UID, Observed: pod, Seconds: map[string]*int64{}, Before: map[string]*int64{}}
	maps.Copy(a.Before, before)
	for _, w := range want {
		if template != nil && tolerated(template.Spec.Tolerations, w.Key) {
			continue
		}
		have := slices.IndexFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return plan.LostNodeToleration(t, w.Key) })
		switch {
		case have < 0 && tolerated(pod.Spec.Tolerations, w.Key):
			continue
		case have >= 0 && ptr.Equal(pod.Spec.Tolerations[have].TolerationSeconds, w.TolerationSeconds):
			continue
		}
		if _, recorded := before[w.Key]; !recorded {
			a.Before[w.Key] = new(int64) // no toleration at all is none for any second
			if have >= 0 {
				a.Before[w.Key] = pod.Spec.Tolerations[have].TolerationSeconds
			}
		}
		a.Seconds[w.Key] = w.TolerationSeconds
	}
	if len(a.Seconds) == 0 {
		return nil
	}
	return a
}

// RevertedTolerations returns the action that gives a pod the tolerations back that it had before
// AppliedTolerations; nil where nothing was changed.
func RevertedTolerations(group v1beta2.ProcessGroupID, pod *corev1.Pod) plan.Action {
	before, changed := plan.TolerationsBefore(pod)
	if !changed {
		return nil
	}
	return plan.SetTolerations{Group: group, Name: pod.Name, UID: pod.UID, Observed: pod, Seconds: before}
}

func tolerated(tolerations []corev1.Toleration, key string) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return plan.Tolerates(t, key) })
}

// MayChangeTolerations reports whether a pod still runs, so that its tolerations matter.
func MayChangeTolerations(pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp == nil && !HasEnded(pod)
}

// AgentsOn returns the pods of backup agents on nodes that run, by name.
func AgentsOn(s plan.Snapshot, nodes []string) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, pod := range s.Agents.Pods {
		if slices.Contains(nodes, pod.Spec.NodeName) && MayChangeTolerations(pod) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods
}

// KeepField is the field of the spec that keeps process groups from being replaced and removed.
const KeepField = string(v1beta2.ExtensionCancelReplacements)

// KeptFacets are the facets that ObjectsGo reads besides the resource.
const KeptFacets = plan.Pods | plan.Volumes

// ObjectsGo returns which object of a process group is deleted, or being deleted, so that data
// would move to a volume that does not stay; empty when the objects stay. A missing pod is
// recreated, and finds its volume.
func ObjectsGo(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) string {
	pod, claim := s.Pod(g), s.Volumes[g.PVCName(s.Cluster)]
	switch {
	case claim != nil && claim.DeletionTimestamp != nil:
		return "its PVC is being deleted"
	case claim == nil && g.ProcessClass.IsStateful():
		return "its PVC is deleted"
	case pod != nil && pod.DeletionTimestamp != nil:
		return "its pod is being deleted"
	}
	return ""
}

// KeptNow reports whether the spec keeps a process group that is marked for removal, and its
// objects stay: nothing is drained or deleted of it until its mark is reverted, or until the
// contradiction is resolved that prevents that.
func KeptNow(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) bool {
	return s.Cluster.KeepsFromReplacement(g.ProcessGroupID) && ObjectsGo(s, g) == ""
}

// KeepsAnyMarked reports whether the spec keeps a process group that is marked for removal.
func KeepsAnyMarked(s plan.Snapshot) bool {
	return slices.ContainsFunc(s.Groups(), func(g *v1beta2.ProcessGroupStatus) bool {
		return g.IsMarkedForRemoval() && s.Cluster.KeepsFromReplacement(g.ProcessGroupID)
	})
}

// ListedForRemoval returns the field of the spec that lists a process group for removal; empty
// for none.
func ListedForRemoval(c *v1beta2.FoundationDBCluster, id v1beta2.ProcessGroupID) string {
	switch {
	case slices.Contains(c.Spec.ProcessGroupsToRemoveWithoutExclusion, id):
		return "spec.processGroupsToRemoveWithoutExclusion"
	case slices.Contains(c.Spec.ProcessGroupsToRemove, id):
		return "spec.processGroupsToRemove"
	}
	return ""
}
