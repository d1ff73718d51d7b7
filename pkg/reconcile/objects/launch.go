package objects

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Launch is how the processes of one pod are started.
type Launch struct {
	Class     v1beta2.ProcessClass
	ImageType v1beta2.ImageType
	// Servers is the number of processes in the pod, from 1.
	Servers int
	// IPFamily is 4 or 6 when the pod has to use addresses of that family; else 0.
	IPFamily int
}

// DesiredLaunch is how a pod of the class should start its processes.
func DesiredLaunch(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) Launch {
	return Launch{Class: class, ImageType: c.ImageType(), Servers: c.ServersPerPod(class), IPFamily: c.PodIPFamily()}
}

// LaunchOf is how a pod that exists starts its processes.
func LaunchOf(pod *corev1.Pod, class v1beta2.ProcessClass) (Launch, error) {
	servers, err := ServersPerPodOf(pod, class)
	if err != nil {
		return Launch{}, err
	}
	family, err := IPFamilyOf(pod)
	if err != nil {
		return Launch{}, err
	}
	return Launch{Class: class, ImageType: ImageTypeOf(pod), Servers: servers, IPFamily: family}, nil
}

// Where the monitors find fdbserver.
const (
	ownBinaryDir           = "/usr/bin"
	unifiedCopiedBinaryDir = "/var/fdb/shared-binaries/bin/"
	splitCopiedBinaryDir   = "/var/dynamic-conf/bin/"
)

// CopiedServer is the path of the fdbserver of a version, in the volume that a split pod's
// containers share, to which the sidecar copies it.
func CopiedServer(version string) string { return "bin/" + version + "/fdbserver" }

// BinaryDir is the directory from which a pod starts fdbserver in the desired version:
// the main container's own, or the one its sidecar copied binaries to. The unified
// monitor uses its own binary for every compatible version; the split image
// compares the versions of its two containers.
func BinaryDir(t v1beta2.ImageType, container, desired fdb.Version) string {
	switch {
	case container == desired:
		return ownBinaryDir
	case t != v1beta2.ImageTypeUnified:
		return splitCopiedBinaryDir + desired.String()
	case container.ProtocolCompatible(desired):
		return ownBinaryDir
	default:
		return unifiedCopiedBinaryDir + desired.String()
	}
}
