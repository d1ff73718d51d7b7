package objects

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// SidecarImage is the sidecar image that pods of a class should run now. It
// uses the desired version, not the running one: sidecars are upgraded first.
func SidecarImage(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (string, error) {
	return imageOf(c, class, v1beta2.ContainerSidecar, c.Spec.Version)
}

// MainImage returns the image of the main container of a class, for a version.
func MainImage(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, version string) (string, error) {
	return imageOf(c, class, v1beta2.ContainerMain, version)
}

func imageOf(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass, name, version string) (string, error) {
	of := corev1.Container{Name: name}
	if t := c.Settings(class).PodTemplate; t != nil {
		if own := container(t.Spec.Containers, name); own != nil {
			of = *own
		}
	}
	image, err := c.Image(of, version)
	if err != nil {
		return "", fmt.Errorf("select the image of container %s of class %s: %w", name, class, err)
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
