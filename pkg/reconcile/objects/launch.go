package objects

import (
	"slices"
	"strings"

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

// DeclaredVariables are a container's environment variables, as far as the pod's own
// spec, metadata and status have their values.
func DeclaredVariables(pod *corev1.Pod, name string) map[string]string {
	variables := map[string]string{}
	c := container(pod.Spec.Containers, name)
	if c == nil {
		return variables
	}
	for _, v := range c.Env {
		if value, known := declaredValue(pod, v); known {
			variables[v.Name] = value
		}
	}
	return variables
}

func declaredValue(pod *corev1.Pod, v corev1.EnvVar) (value string, known bool) {
	if v.ValueFrom == nil {
		return v.Value, true
	}
	if v.ValueFrom.FieldRef == nil {
		return "", false
	}
	path := v.ValueFrom.FieldRef.FieldPath
	if key, ok := strings.CutPrefix(path, "metadata.annotations['"); ok {
		value, known = pod.Annotations[strings.TrimSuffix(key, "']")]
		return value, known
	}
	if key, ok := strings.CutPrefix(path, "metadata.labels['"); ok {
		value, known = pod.Labels[strings.TrimSuffix(key, "']")]
		return value, known
	}
	value = podField(pod, path)
	return value, value != ""
}

// podField is the value of a field path for a variable of a container; empty when
// it has none yet.
func podField(pod *corev1.Pod, path string) string {
	switch path {
	case "status.podIP":
		return pod.Status.PodIP
	case "status.podIPs":
		return joinIPs(pod.Status.PodIPs)
	case "status.hostIP":
		return pod.Status.HostIP
	case "spec.nodeName":
		return pod.Spec.NodeName
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName
	case "metadata.name":
		return pod.Name
	case "metadata.namespace":
		return pod.Namespace
	case "metadata.uid":
		return string(pod.UID)
	default:
		return ""
	}
}

func joinIPs(ips []corev1.PodIP) string {
	words := make([]string, len(ips))
	for i, ip := range ips {
		words[i] = ip.IP
	}
	return strings.Join(words, ",")
}

// SidecarVariables are the values that a split pod's sidecar substitutes, as far as the pod's own
// spec and status have them.
func SidecarVariables(pod *corev1.Pod) map[string]string {
	variables := DeclaredVariables(pod, v1beta2.ContainerSidecar)
	if dir, ok := sidecarBinaryDir(pod); ok {
		variables[v1beta2.EnvBinaryDir] = dir
	}
	return variables
}

// sidecarBinaryDir compares the versions of a split pod's two containers: the sidecar copies
// binaries of its own version when the main container has another.
func sidecarBinaryDir(pod *corev1.Pod) (string, bool) {
	c := container(pod.Spec.Containers, v1beta2.ContainerSidecar)
	if c == nil {
		return "", false
	}
	sidecar, err := fdb.ParseVersion(c.Image[strings.LastIndex(c.Image, ":")+1:])
	if err != nil {
		return "", false
	}
	i := slices.Index(c.Args, "--main-container-version")
	if i < 0 || i+1 >= len(c.Args) {
		return "", false
	}
	main, err := fdb.ParseVersion(c.Args[i+1])
	if err != nil {
		return "", false
	}
	return BinaryDir(v1beta2.ImageTypeSplit, main, sidecar), true
}
