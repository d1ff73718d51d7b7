package objects

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Names of the volumes. A volume or mount of the same name in the pod template wins.
const (
	volumeData           = "data"
	volumeConfigMap      = "config-map"
	volumeTraceLogs      = "fdb-trace-logs"
	volumeSharedBinaries = "shared-binaries"
	volumeDynamicConf    = "dynamic-conf"
)

// Paths in the containers, and files in them.
const (
	pathData           = "/var/fdb/data"
	pathDynamicConf    = "/var/dynamic-conf"
	pathSharedBinaries = "/var/fdb/shared-binaries"
	pathTraceLogs      = "/var/log/fdb-trace-logs"
	pathInputFiles     = "/var/input-files"
	pathOutputFiles    = "/var/output-files"

	// fileClusterFile is the cluster file's name in a pod.
	fileClusterFile = "fdb.cluster"
	// fileMonitorConf is the name of a split pod's monitor configuration.
	fileMonitorConf = "fdbmonitor.conf"
	// fileMonitorConfiguration is the name of a unified pod's monitor configuration.
	fileMonitorConfiguration = "config.json"
	fileCA                   = "ca.pem"
)

// addVolumes appends the volumes that the user's template does not have itself.
func (b *podBuilder) addVolumes() {
	volumes := []corev1.Volume{
		{Name: volumeData, VolumeSource: b.dataSource()},
		emptyVolume(b.binariesVolume()),
		{Name: volumeConfigMap, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: b.cluster.ConfigMapName()},
			Items:                b.configMapItems(),
		}}},
		emptyVolume(volumeTraceLogs),
	}
	b.spec.Volumes = appendMissing(b.spec.Volumes, volumes, func(v corev1.Volume) string { return v.Name })
}

func (b *podBuilder) dataSource() corev1.VolumeSource {
	if !b.group.ProcessClass.IsStateful() {
		return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	}
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
		ClaimName: b.group.PVCName(b.cluster),
	}}
}

func (b *podBuilder) binariesVolume() string {
	if b.cluster.UsesUnifiedImage() {
		return volumeSharedBinaries
	}
	return volumeDynamicConf
}

func (b *podBuilder) configMapItems() []corev1.KeyToPath {
	monitor := fileMonitorConf
	if b.cluster.UsesUnifiedImage() {
		monitor = fileMonitorConfiguration
	}
	items := []corev1.KeyToPath{
		{Key: monitorKey(b.launch), Path: monitor},
		{Key: KeyClusterFile, Path: fileClusterFile},
	}
	if trustsCAs(b.cluster) {
		items = append(items, corev1.KeyToPath{Key: KeyCAFile, Path: fileCA})
	}
	return items
}

func emptyVolume(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}

func trustsCAs(c *v1beta2.FoundationDBCluster) bool { return len(c.Spec.TrustedCAs) > 0 }

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

// Annotations of the default class, the second one of old versions.
const (
	AnnotationDefaultClass    = "storageclass.kubernetes.io/is-default-class"
	oldAnnotationDefaultClass = "storageclass.beta.kubernetes.io/is-default-class"
)

// IsDefaultClass reports whether a storage class is that of PVCs which name none.
func IsDefaultClass(c storagev1.StorageClass) bool {
	return c.Annotations[AnnotationDefaultClass] == strconv.FormatBool(true) || c.Annotations[oldAnnotationDefaultClass] == strconv.FormatBool(true)
}
