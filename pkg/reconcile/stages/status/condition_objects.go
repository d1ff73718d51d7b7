package status

import (
	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// incorrectPodSpec: the pod was created from another spec than the current one.
var incorrectPodSpec = condition{v1beta2.ConditionIncorrectPodSpec, func(f GroupFacts) (verdict, error) {
	want, err := f.specs.Of(f.Group)
	if err != nil {
		return keep, err
	}
	return verdictOf(want != f.pod.Annotations[v1beta2.AnnotationLastAppliedSpec]), nil
}}

// incorrectSidecarImage: the sidecar runs another image than the spec's version needs.
var incorrectSidecarImage = condition{v1beta2.ConditionIncorrectSidecarImage, func(f GroupFacts) (verdict, error) {
	want, err := objects.SidecarImage(f.S.Cluster, f.Group.ProcessClass)
	if err != nil {
		return keep, err
	}
	have := readings.SidecarImage(f.pod)
	return verdictOf(have != "" && have != want), nil
}}

// incorrectPodMetadata: a label or annotation is missing or differs.
var incorrectPodMetadata = condition{v1beta2.ConditionIncorrectPodMetadata, func(f GroupFacts) (verdict, error) {
	labels, annotations := f.metadata.OfPod(f.Group, f.pod)
	return verdictOf(len(labels)+len(annotations) > 0), nil
}}

// incorrectConfigMap: the pod has not confirmed the desired configuration. During an upgrade
// to another protocol an earlier confirmation does not count: the files, including the new
// binary, have to be in place.
var incorrectConfigMap = condition{v1beta2.ConditionIncorrectConfigMap, func(f GroupFacts) (verdict, error) {
	if readings.IncompatibleUpgrade(f.S.Cluster) && !f.Group.IsMarkedForRemoval() {
		outdated, err := f.monitors.OutdatedFiles(f.S, f.Group, f.pod)
		if err != nil || len(outdated) > 0 {
			return holds, err
		}
	}
	want, err := f.hashes.Of(f.S, f.Group, f.pod)
	if err != nil {
		return keep, err
	}
	return verdictOf(f.pod.Annotations[v1beta2.AnnotationLastAppliedConfigMap] != want), nil
}}

// missingPVC: a stateful group has no PVC, or one with other metadata.
var missingPVC = condition{v1beta2.ConditionMissingPVC, func(f GroupFacts) (verdict, error) {
	if !f.Group.ProcessClass.IsStateful() {
		return cleared, nil
	}
	have := f.S.Volumes[f.Group.PVCName(f.S.Cluster)]
	if have == nil {
		return holds, nil
	}
	labels, annotations := f.metadata.OfClaim(f.Group, have)
	return verdictOf(len(labels)+len(annotations) > 0), nil
}}

// missingService: the spec takes public addresses from services, and the group has none. The
// operator defines the condition, and replaces a group that has it for long, but never sets it.
var missingService = condition{v1beta2.ConditionMissingService, func(f GroupFacts) (verdict, error) {
	if !f.S.Cluster.PublicIPFromService() {
		return cleared, nil
	}
	return verdictOf(f.S.Services[f.Group.ServiceName(f.S.Cluster)] == nil), nil
}}

// sidecarUnreachable: the files of the sidecar could not be read.
var sidecarUnreachable = condition{v1beta2.ConditionSidecarUnreachable, func(f GroupFacts) (verdict, error) {
	files, requested := f.S.PodFiles[f.pod.Name]
	if !requested {
		return keep, nil
	}
	return verdictOf(files.Unreachable != ""), nil
}}
