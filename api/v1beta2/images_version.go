package v1beta2

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// ImageContradictions returns an error per container whose image, by the tag that imageConfigs set for
// spec.version, has another version. Pods with such an image never run spec.version. A tag that names
// no version, and one of a numbering of its own, proves nothing.
func (c *FoundationDBCluster) ImageContradictions() field.ErrorList {
	spec := field.NewPath("spec")
	errs := taggedOtherwise(spec.Child("mainContainer", "imageConfigs"), c.Spec.MainContainer.ImageConfigs, c.Spec.Version)
	if !c.UsesUnifiedImage() { // the unified image's sidecar has the rules of the main container
		errs = append(errs, taggedOtherwise(spec.Child("sidecarContainer", "imageConfigs"), c.Spec.SidecarContainer.ImageConfigs, c.Spec.Version)...)
	}
	return errs
}

// taggedOtherwise checks the first tag that the rules set for a version, which decides.
func taggedOtherwise(path *field.Path, rules []ImageConfig, version string) field.ErrorList {
	for i, rule := range rules {
		if !rule.isFor(version) || rule.Tag == "" {
			continue
		}
		tagged, err := fdb.ParseVersion(rule.Tag)
		desired, wrong := fdb.ParseVersion(version)
		if err != nil || wrong != nil || !isFoundationDB(tagged) || tagged == desired {
			return nil
		}
		return field.ErrorList{field.Invalid(path.Index(i).Child("tag"), rule.Tag, fmt.Sprintf(
			"is an image of %s, and spec.version is %s: set the tag of %s, or remove it so that it follows spec.version", tagged, desired, desired))}
	}
	return nil
}

// newestMajor is the highest major version that a tag is taken to name; dates and numbers of builds are higher.
const newestMajor = 19

// isFoundationDB reports whether a version that a tag names can be one of FoundationDB.
func isFoundationDB(v fdb.Version) bool { return v.Supported() && v.Major <= newestMajor }
