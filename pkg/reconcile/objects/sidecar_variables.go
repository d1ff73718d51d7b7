package objects

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

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
