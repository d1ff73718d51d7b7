package objects

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// GroupMetadata compares the metadata of the pods and PVCs of many process groups. Those of one class
// differ only in the group's ID, so they are built once per class, for an ID that no group has.
type GroupMetadata struct {
	cluster      *v1beta2.FoundationDBCluster
	pods, claims map[v1beta2.ProcessClass]metav1.ObjectMeta
}

// NewGroupMetadata compares with a cluster, which must not change meanwhile.
func NewGroupMetadata(c *v1beta2.FoundationDBCluster) *GroupMetadata {
	return &GroupMetadata{cluster: c, pods: map[v1beta2.ProcessClass]metav1.ObjectMeta{}, claims: map[v1beta2.ProcessClass]metav1.ObjectMeta{}}
}

// placeholderID stands for the ID of a group: neither a label nor an annotation can have it.
const placeholderID = v1beta2.ProcessGroupID("\x00")

// OfPod are the labels and annotations that a group's pod should get; both are nil when none is missing.
func (m *GroupMetadata) OfPod(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod) (labels, annotations map[string]string) {
	labels, annotations = m.missing(m.pods, changeablePodMetadata, g, pod.ObjectMeta)
	if node := pod.Spec.NodeName; node != "" && pod.Annotations[v1beta2.AnnotationCurrentNode] != node {
		annotations = merged(annotations, map[string]string{v1beta2.AnnotationCurrentNode: node})
	}
	return labels, annotations
}

// OfClaim are the labels and annotations that a group's PVC should get; both are nil when none is missing.
func (m *GroupMetadata) OfClaim(g *v1beta2.ProcessGroupStatus, claim *corev1.PersistentVolumeClaim) (labels, annotations map[string]string) {
	return m.missing(m.claims, ClaimMetadata, g, claim.ObjectMeta)
}

func (m *GroupMetadata) missing(
	known map[v1beta2.ProcessClass]metav1.ObjectMeta, build func(*v1beta2.FoundationDBCluster, *v1beta2.ProcessGroupStatus) metav1.ObjectMeta,
	g *v1beta2.ProcessGroupStatus, have metav1.ObjectMeta,
) (labels, annotations map[string]string) {
	want, ok := known[g.ProcessClass]
	if !ok {
		want = build(m.cluster, &v1beta2.ProcessGroupStatus{ProcessGroupID: placeholderID, ProcessClass: g.ProcessClass})
		known[g.ProcessClass] = want
	}
	ofGroup := func(value string) string {
		if value == string(placeholderID) {
			return string(g.ProcessGroupID)
		}
		return value
	}
	return missing(have.Labels, want.Labels, ofGroup), missing(have.Annotations, want.Annotations, ofGroup)
}
