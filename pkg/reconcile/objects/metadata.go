package objects

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// groupSelector are the labels by which the objects of one process group are selected.
func groupSelector(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) map[string]string {
	return merged(c.MatchLabels(), map[string]string{c.ProcessGroupIDLabels()[0]: string(g.ProcessGroupID)})
}

// groupLabels are the labels that identify the objects of one process group.
func groupLabels(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) map[string]string {
	labels := make(map[string]string, usualLabels)
	for _, key := range c.ProcessClassLabels() {
		labels[key] = string(g.ProcessClass)
	}
	for _, key := range c.ProcessGroupIDLabels() {
		labels[key] = string(g.ProcessGroupID)
	}
	return labels
}

// usualLabels are at least as many as most objects have, so that their map never grows.
const usualLabels = 4

// metadata is what an object called name carries: all of template, which may be
// nil, and over it the cluster's labels and those of the object.
func metadata(c *v1beta2.FoundationDBCluster, template *metav1.ObjectMeta, name string, own map[string]string) metav1.ObjectMeta {
	var m metav1.ObjectMeta
	if template != nil {
		template.DeepCopyInto(&m)
	}
	m.Name, m.Namespace = name, c.Namespace
	if m.Labels == nil {
		m.Labels = make(map[string]string, usualLabels)
	}
	c.AddMatchLabels(m.Labels)
	maps.Copy(m.Labels, own)
	c.AddResourceLabels(m.Labels)
	m.OwnerReferences = ownedBy(c)
	return m
}

// ownedBy lets Kubernetes delete an object together with its cluster. The type
// is written out because a cluster read through a typed client does not have it.
func ownedBy(c *v1beta2.FoundationDBCluster) []metav1.OwnerReference {
	return []metav1.OwnerReference{{
		APIVersion: v1beta2.GroupVersion.String(),
		Kind:       "FoundationDBCluster",
		Name:       c.Name,
		UID:        c.UID,
		Controller: new(true),
	}}
}

// MissingMetadata are the labels and annotations of want that have lacks or has with another
// value. Additional metadata of have is ignored: metadata is only ever added or overwritten.
// Both are nil when nothing is missing.
func MissingMetadata(have, want metav1.ObjectMeta) (labels, annotations map[string]string) {
	asIs := func(value string) string { return value }
	return missing(have.Labels, want.Labels, asIs), missing(have.Annotations, want.Annotations, asIs)
}

// ContainsMetadata reports whether have has every label and annotation of want.
func ContainsMetadata(have, want metav1.ObjectMeta) bool {
	labels, annotations := MissingMetadata(have, want)
	return labels == nil && annotations == nil
}

// missing is what have lacks, or has with another value, of the values that want stands for.
func missing(have, want map[string]string, meant func(value string) string) map[string]string {
	var lacking map[string]string
	for key, value := range want {
		value = meant(value)
		if found, ok := have[key]; ok && found == value {
			continue
		}
		if lacking == nil {
			lacking = map[string]string{}
		}
		lacking[key] = value
	}
	return lacking
}

// merged is a new map with the entries of all; later ones win.
func merged(all ...map[string]string) map[string]string {
	size := 0
	for _, one := range all {
		size += len(one)
	}
	m := make(map[string]string, size)
	for _, one := range all {
		maps.Copy(m, one)
	}
	return m
}

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
