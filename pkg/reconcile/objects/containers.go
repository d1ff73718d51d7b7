package objects

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// SidecarImage is the sidecar image that pods of a class should run now. It
// uses the desired version, not the running one: sidecars are upgraded first.
func SidecarImage(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (string, error) {
	sidecar := corev1.Container{Name: v1beta2.ContainerSidecar}
	if t := c.Settings(class).PodTemplate; t != nil {
		if own := container(t.Spec.Containers, v1beta2.ContainerSidecar); own != nil {
			sidecar = *own
		}
	}
	image, err := c.Image(sidecar, c.Spec.Version)
	if err != nil {
		return "", fmt.Errorf("select the sidecar image of class %s: %w", class, err)
	}
	return image, nil
}

// container is the container called name, to be changed in place; nil when there is none.
func container(all []corev1.Container, name string) *corev1.Container {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}
