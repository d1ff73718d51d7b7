package stages

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// incorrectPodSpec: the pod was created from another spec than the current one.
var incorrectPodSpec = condition{v1beta2.ConditionIncorrectPodSpec, func(f groupFacts) (verdict, error) {
	want, err := f.specs.Of(f.group)
	if err != nil {
		return keep, err
	}
	return verdictOf(want != f.pod.Annotations[v1beta2.AnnotationLastAppliedSpec]), nil
}}

// incorrectSidecarImage: the sidecar runs another image than the spec's version needs.
var incorrectSidecarImage = condition{v1beta2.ConditionIncorrectSidecarImage, func(f groupFacts) (verdict, error) {
	want, err := objects.SidecarImage(f.s.Cluster, f.group.ProcessClass)
	if err != nil {
		return keep, err
	}
	have := sidecarImage(f.pod)
	return verdictOf(have != "" && have != want), nil
}}

// incorrectPodMetadata: a label or annotation is missing or differs.
var incorrectPodMetadata = condition{v1beta2.ConditionIncorrectPodMetadata, func(f groupFacts) (verdict, error) {
	labels, annotations := objects.MissingPodMetadata(f.s.Cluster, f.group, f.pod)
	return verdictOf(len(labels)+len(annotations) > 0), nil
}}

// incorrectConfigMap: the pod has not confirmed the desired configuration. During an upgrade
// to another protocol an earlier confirmation does not count: the files, including the new
// binary, have to be in place.
var incorrectConfigMap = condition{v1beta2.ConditionIncorrectConfigMap, func(f groupFacts) (verdict, error) {
	if incompatibleUpgrade(f.s.Cluster) && !f.group.IsMarkedForRemoval() {
		outdated, err := outdatedFiles(f.s, f.group, f.pod)
		if err != nil || len(outdated) > 0 {
			return holds, err
		}
	}
	want, err := f.hashes.of(f.s, f.group, f.pod)
	if err != nil {
		return keep, err
	}
	return verdictOf(f.pod.Annotations[v1beta2.AnnotationLastAppliedConfigMap] != want), nil
}}

// missingPVC: a stateful group has no PVC, or one with other metadata.
var missingPVC = condition{v1beta2.ConditionMissingPVC, func(f groupFacts) (verdict, error) {
	if !f.group.ProcessClass.IsStateful() {
		return gone, nil
	}
	have := f.s.Volumes[f.group.PVCName(f.s.Cluster)]
	if have == nil {
		return holds, nil
	}
	labels, annotations := objects.MissingMetadata(have.ObjectMeta, objects.ClaimMetadata(f.s.Cluster, f.group))
	return verdictOf(len(labels)+len(annotations) > 0), nil
}}

// sidecarUnreachable: the files of the sidecar could not be read.
var sidecarUnreachable = condition{v1beta2.ConditionSidecarUnreachable, func(f groupFacts) (verdict, error) {
	files, asked := f.s.PodFiles[f.pod.Name]
	if !asked {
		return keep, nil
	}
	return verdictOf(files.Unreachable != ""), nil
}}

// sidecarImage returns the image of a pod's sidecar; empty without a sidecar.
func sidecarImage(pod *corev1.Pod) string {
	for _, container := range pod.Spec.Containers {
		if container.Name == v1beta2.ContainerSidecar {
			return container.Image
		}
	}
	return ""
}
