package objects

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// defaultVolumeSize is the size when the template does not set one.
// spec.processes.*.volumeClaimTemplate.
const defaultVolumeSize = "128G"

// PersistentVolumeClaim is the PVC of a process group, with the hash of its spec; nil for a
// group without data. A PVC is never changed: a group whose PVC should differ is replaced.
func PersistentVolumeClaim(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) (*corev1.PersistentVolumeClaim, error) {
	if !g.ProcessClass.IsStateful() {
		return nil, nil
	}
	claim := claimOf(c, g.ProcessClass)
	claim.ObjectMeta = ClaimMetadata(c, g)
	hash, err := SpecHash(claim.Spec)
	if err != nil {
		return nil, err
	}
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, v1beta2.AnnotationLastAppliedSpec, hash)
	return claim, nil
}

// ClaimSpecHash is the hash that PersistentVolumeClaim records for the groups of a class:
// it depends on nothing else of a group.
func ClaimSpecHash(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (string, error) {
	return SpecHash(claimOf(c, class).Spec)
}

// claimOf is the PVC of a class, as the template has it, with a complete spec.
func claimOf(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{}
	if t := c.Settings(class).VolumeClaimTemplate; t != nil {
		claim = t.DeepCopy()
	}
	fillClaimSpec(&claim.Spec)
	return claim
}

// ClaimMetadata is the metadata of a group's PVC that can be changed on an existing one: all
// but the hash of the spec that it was created from.
func ClaimMetadata(c *v1beta2.FoundationDBCluster, g *v1beta2.ProcessGroupStatus) metav1.ObjectMeta {
	var template *metav1.ObjectMeta
	if t := c.Settings(g.ProcessClass).VolumeClaimTemplate; t != nil {
		template = &t.ObjectMeta
	}
	return metadata(c, template, g.PVCName(c), groupLabels(c, g))
}

func fillClaimSpec(spec *corev1.PersistentVolumeClaimSpec) {
	if spec.AccessModes == nil {
		spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	if spec.Resources.Requests == nil {
		spec.Resources.Requests = corev1.ResourceList{}
	}
	if size := spec.Resources.Requests[corev1.ResourceStorage]; size.IsZero() {
		spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(defaultVolumeSize)
	}
}
