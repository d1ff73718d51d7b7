package v1beta2

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Image is the image of one of the agents' containers. The container is the one of the
// pod template: an image in it is the first rule. An image with a tag is used unchanged
// where the spec allows that, and is an error elsewhere.
func (b *FoundationDBBackup) Image(container corev1.Container) (string, error) {
	if hasTag(container.Image) {
		if b.AllowTagOverride() {
			return container.Image, nil
		}
		return "", taggedImageError{container}
	}
	rules := b.Spec.MainContainer.ImageConfigs
	if b.ImageType() == ImageTypeSplit && container.Name != ContainerMain {
		rules = b.Spec.SidecarContainer.ImageConfigs
	}
	return chooseImage(b.completed(rules, container), b.Spec.Version), nil
}

// completed adds the default rule only where the rules choose no image at all, as the
// operator does for backups, but not for clusters: a default that always came last would
// append the suffix of the default sidecar to the user's image.
func (b *FoundationDBBackup) completed(rules []ImageConfig, container corev1.Container) []ImageConfig {
	standard := defaultImageRule(b.ImageType(), container.Name)
	own := append([]ImageConfig{{BaseImage: container.Image}}, rules...)
	if len(rules) > 0 && slices.ContainsFunc(own, func(r ImageConfig) bool { return r.BaseImage != "" && r.isFor(b.Spec.Version) }) {
		return own
	}
	return append(own, standard)
}
