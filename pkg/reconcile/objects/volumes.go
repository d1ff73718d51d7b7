package objects

import (
	corev1 "k8s.io/api/core/v1"

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
