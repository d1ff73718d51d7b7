package v1beta2

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The images used when no rule sets another. Source: the operator.
const (
	defaultUnifiedImage = "foundationdb/fdb-kubernetes-monitor"
	defaultMainImage    = "foundationdb/foundationdb"
	defaultSidecarImage = "foundationdb/foundationdb-kubernetes-sidecar"
	// defaultSidecarSuffix is the build of the sidecar that comes with every
	// version.
	defaultSidecarSuffix = "-1"
)

// ImageVersion is the version of the images in pods: the running one, so that
// an upgrade does not recreate pods before the processes run the new version.
// It is the desired one at once only if the versions are protocol compatible.
// The sidecar image of a pod is compared to the desired version instead.
func (c *FoundationDBCluster) ImageVersion() string {
	if c.IsBeingUpgraded() && c.versionsCompatible() {
		return c.Spec.Version
	}
	return c.RunningVersion()
}

// Image returns the image of one of our containers, for a version. The
// container is the one of the pod template: an image in it is the first rule.
// It returns an error when that image has a tag, which would override every
// rule.
func (c *FoundationDBCluster) Image(container corev1.Container, version string) (string, error) {
	if hasTag(container.Image) {
		return "", taggedImageError{container}
	}
	rules := append([]ImageConfig{{BaseImage: container.Image}}, c.imageRules(container.Name)...)
	return chooseImage(rules, version), nil
}

// imageRules are the rules for a container, the default last. The init
// container of the split image is another run of the sidecar.
func (c *FoundationDBCluster) imageRules(container string) []ImageConfig {
	rules := c.Spec.MainContainer.ImageConfigs
	if !c.UsesUnifiedImage() && container != ContainerMain {
		rules = c.Spec.SidecarContainer.ImageConfigs
	}
	return withRule(rules, defaultImageRule(c.ImageType(), container))
}

func defaultImageRule(t ImageType, container string) ImageConfig {
	switch {
	case t == ImageTypeUnified:
		return ImageConfig{BaseImage: defaultUnifiedImage}
	case container == ContainerMain:
		return ImageConfig{BaseImage: defaultMainImage}
	default:
		return ImageConfig{BaseImage: defaultSidecarImage, TagSuffix: defaultSidecarSuffix}
	}
}

// withRule appends a rule unless it is there.
func withRule(rules []ImageConfig, rule ImageConfig) []ImageConfig {
	if slices.Contains(rules, rule) {
		return rules
	}
	return append(slices.Clone(rules), rule)
}

// chooseImage takes each part of the image from the first rule for the version
// that sets it.
func chooseImage(rules []ImageConfig, version string) string {
	var chosen ImageConfig
	for _, rule := range rules {
		if !rule.isFor(version) {
			continue
		}
		orText(&chosen.BaseImage, rule.BaseImage)
		orText(&chosen.Tag, rule.Tag)
		orText(&chosen.TagSuffix, rule.TagSuffix)
	}
	if chosen.Tag == "" {
		chosen.Tag = version + chosen.TagSuffix
	}
	return chosen.BaseImage + ":" + chosen.Tag
}

// isFor reports whether a rule applies to a version: it has that one, or none.
func (r ImageConfig) isFor(version string) bool { return r.Version == "" || r.Version == version }

func orText(text *string, value string) {
	if *text == "" {
		*text = value
	}
}

// hasTag reports whether an image names a tag or a digest. A colon before the
// last slash is the port of a registry, which the operator mistakes for a
// tag.
func hasTag(image string) bool {
	name := image[strings.LastIndex(image, "/")+1:]
	return strings.ContainsAny(name, ":@")
}

// taggedImageError reports a pod template that pins the version of an image.
type taggedImageError struct{ container corev1.Container }

func (e taggedImageError) Error() string {
	return fmt.Sprintf("the image %q of container %s must not have a tag: remove it, or set the tag with imageConfigs", e.container.Image, e.container.Name)
}
