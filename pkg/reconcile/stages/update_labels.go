package stages

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// updateLabels adds missing labels and annotations to pods and volume claims and
// corrects wrong ones; it never removes what others put there. Labels and
// annotations go out in one patch, where the operator needs two passes.
var updateLabels = plan.Stage{
	Name:  "UpdateLabels",
	Reads: plan.Record | plan.Pods | plan.Volumes,
	Decide: func(s plan.Snapshot) plan.Decision {
		var d plan.Decision
		for _, g := range s.Groups() {
			if g.IsGone() {
				continue
			}
			d.Actions = append(d.Actions, podMetadata(s, g)...)
			actions, err := claimMetadata(s, g)
			if err != nil {
				return contradiction(err)
			}
			d.Actions = append(d.Actions, actions...)
		}
		if len(d.Actions) > 0 {
			d.Why = "labels or annotations that the spec asks for are missing or differ"
		}
		return d
	},
}

func podMetadata(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) []plan.Action {
	pod := s.Pod(g)
	if pod == nil {
		return nil
	}
	labels, annotations := objects.MissingPodMetadata(s.Cluster, g, pod)
	return metadataPatch(plan.KindPod, pod.Name, labels, annotations)
}

func claimMetadata(s plan.Snapshot, g *v1beta2.ProcessGroupStatus) ([]plan.Action, error) {
	if !g.ProcessClass.IsStateful() {
		return nil, nil
	}
	want, err := objects.PersistentVolumeClaim(s.Cluster, g)
	if err != nil {
		return nil, err
	}
	have := s.Volumes[want.Name]
	if have == nil {
		return nil, nil
	}
	labels, annotations := missingClaimMetadata(have, want)
	return metadataPatch(plan.KindPVC, want.Name, labels, annotations), nil
}

func metadataPatch(kind plan.ObjectKind, name string, labels, annotations map[string]string) []plan.Action {
	if len(labels) == 0 && len(annotations) == 0 {
		return nil
	}
	return []plan.Action{plan.PatchMetadata{Kind: kind, Name: name, Labels: labels, Annotations: annotations}}
}

// missingClaimMetadata leaves out the annotation that says what a claim was made
// from: only a new claim is made from something else.
func missingClaimMetadata(have, want *corev1.PersistentVolumeClaim) (labels, annotations map[string]string) {
	labelled := want.ObjectMeta.DeepCopy()
	delete(labelled.Annotations, v1beta2.AnnotationLastAppliedSpec)
	return objects.MissingMetadata(have.ObjectMeta, *labelled)
}

// mergeMetadata adds the labels and annotations that want has and have lacks, and
// reports whether there were any. It changes have, a copy that the caller owns.
func mergeMetadata(have *metav1.ObjectMeta, want metav1.ObjectMeta) bool {
	labels, annotations := objects.MissingMetadata(*have, want)
	for key, value := range labels {
		metav1.SetMetaDataLabel(have, key, value)
	}
	for key, value := range annotations {
		metav1.SetMetaDataAnnotation(have, key, value)
	}
	return len(labels)+len(annotations) > 0
}
