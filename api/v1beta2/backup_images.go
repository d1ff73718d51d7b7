package v1beta2

import corev1 "k8s.io/api/core/v1"

// Image is the image of one of the agents' containers. The container is the one of the
// pod template: an image in it is the first rule. One with a tag is taken as it is where
// the spec allows that, and is an error elsewhere.
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
	rules = append([]ImageConfig{{BaseImage: container.Image}}, withRule(rules, defaultImageRule(b.ImageType(), container.Name))...)
	return chooseImage(rules, b.Spec.Version), nil
}
