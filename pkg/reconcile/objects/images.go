package objects

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// image is the image of a container. An image in the pod template counts as a
// first rule that sets the base only, and must come without a tag. Note that the
// colon of a registry port counts as a tag too.
func image(template string, rules []v1beta2.ImageConfig, version string) (string, error) {
	if strings.Contains(template, ":") {
		return "", fmt.Errorf("image %q of the pod template has a tag: set the tag in imageConfigs", template)
	}
	rule := v1beta2.ImageConfig{BaseImage: template}
	for _, next := range rules {
		if next.Version != "" && next.Version != version {
			continue
		}
		rule.BaseImage = cmp.Or(rule.BaseImage, next.BaseImage)
		rule.Tag = cmp.Or(rule.Tag, next.Tag)
		rule.TagSuffix = cmp.Or(rule.TagSuffix, next.TagSuffix)
	}
	if rule.BaseImage == "" {
		return "", fmt.Errorf("no image rule for version %s sets a base image", version)
	}
	return rule.BaseImage + ":" + cmp.Or(rule.Tag, version+rule.TagSuffix), nil
}

// sidecarRules are the image rules of the sidecar. The unified image has one
// image for both containers.
func sidecarRules(c *v1beta2.FoundationDBCluster) []v1beta2.ImageConfig {
	if c.UsesUnifiedImage() {
		return c.Spec.MainContainer.ImageConfigs
	}
	return c.Spec.SidecarContainer.ImageConfigs
}

// SidecarImage is the sidecar image that pods of a class should run by now. It
// follows the wanted version, not the running one: sidecars are upgraded first.
func SidecarImage(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (string, error) {
	template := ""
	if t := c.Settings(class).PodTemplate; t != nil {
		if sidecar := container(t.Spec.Containers, v1beta2.ContainerSidecar); sidecar != nil {
			template = sidecar.Image
		}
	}
	return image(template, sidecarRules(c), c.Spec.Version)
}

// podVersion is the version that a pod made now is built for: the running one,
// so that an incompatible upgrade touches no pod before the servers changed, but
// the wanted one when both can talk to each other.
func podVersion(c *v1beta2.FoundationDBCluster) (string, error) {
	if c.Status.RunningVersion == "" {
		return c.Spec.Version, nil
	}
	running, err := fdb.ParseVersion(c.Status.RunningVersion)
	if err != nil {
		return "", fmt.Errorf("reading running version: %w", err)
	}
	wanted, err := fdb.ParseVersion(c.Spec.Version)
	if err != nil {
		return "", fmt.Errorf("reading wanted version: %w", err)
	}
	if running.ProtocolCompatible(wanted) {
		return c.Spec.Version, nil
	}
	return c.Status.RunningVersion, nil
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
