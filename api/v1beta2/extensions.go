package v1beta2

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	kjson "sigs.k8s.io/json"
)

// Extension is a field of the spec that the operator and its CRD do not have; its
// value is the path of the field.
type Extension string

// The fields that the operator does not have.
const (
	ExtensionCancelReplacements      Extension = "spec.cancelReplacementsForInstance"
	ExtensionDistributionConfig      Extension = "spec.distributionConfig"
	ExtensionFailureDetectionCronJob Extension = "spec.automationOptions.replacements.failureDetectionCronJob"
)

// Annotation returns the annotation that is the other form of the field.
func (e Extension) Annotation() string { return annotationsOf[e] }

var annotationsOf = map[Extension]string{
	ExtensionCancelReplacements:      AnnotationCancelReplacements,
	ExtensionDistributionConfig:      AnnotationDistributionConfig,
	ExtensionFailureDetectionCronJob: AnnotationFailureDetectionCronJob,
}

// The same as paths, for errors.
var (
	keptPath         = field.NewPath(string(ExtensionCancelReplacements))
	distributionPath = field.NewPath(string(ExtensionDistributionConfig))
	detectionPath    = field.NewPath(string(ExtensionFailureDetectionCronJob))
)

// maxKeptProcessGroups is the maximum length of the list in the CRD.
const maxKeptProcessGroups = 500

// DistributionSettings is a DistributionConfig with its defaults.
type DistributionSettings struct {
	// Enabled reports whether pods are packed at all.
	Enabled bool
	// DesiredFaultDomains is the number of fault domains; at least 1 where
	// packing is enabled.
	DesiredFaultDomains int
	// BinPack is which pods share a fault domain.
	BinPack BinPack
	// Required reports whether pods may run nowhere else.
	Required bool
}

// KeepsFromReplacement reports whether cancelReplacementsForInstance lists the
// process group. The cluster must be normalized.
func (c *FoundationDBCluster) KeepsFromReplacement(id ProcessGroupID) bool {
	return slices.Contains(c.Spec.CancelReplacementsForInstance, id)
}

// KeptProcessGroups returns the process groups of cancelReplacementsForInstance,
// sorted and each once. The cluster must be normalized.
func (c *FoundationDBCluster) KeptProcessGroups() []ProcessGroupID {
	return sortedIDs(c.Spec.CancelReplacementsForInstance)
}

func sortedIDs(ids []ProcessGroupID) []ProcessGroupID {
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}

// Distribution returns how pods are packed into fault domains. The cluster must
// be normalized.
func (c *FoundationDBCluster) Distribution() DistributionSettings {
	config := ptr.Deref(c.Spec.DistributionConfig, DistributionConfig{})
	return DistributionSettings{
		Enabled:             ptr.Deref(config.Enabled, false),
		DesiredFaultDomains: ptr.Deref(config.DesiredFaultDomains, 0),
		BinPack:             ptr.Deref(config.BinPack, BinPackClass),
		Required:            ptr.Deref(config.Required, false),
	}
}

// appliedExtensions are the fields which the operator does not have, in a
// manifest.
type appliedExtensions struct {
	Spec struct {
		CancelReplacementsForInstance any
		DistributionConfig            *json.RawMessage
		AutomationOptions             struct {
			Replacements struct {
				FailureDetectionCronJob *json.RawMessage
			}
		}
	}
}

// DroppedFields returns the fields which the operator does not have, which the last applied manifest sets, and which are not set in the
// cluster: its API server has a CRD without them. Those of a normalized cluster
// are without the fields that are also given as an annotation.
func (c *FoundationDBCluster) DroppedFields() []Extension {
	var applied appliedExtensions
	text, given := c.Annotations[corev1.LastAppliedConfigAnnotation]
	if !given || json.Unmarshal([]byte(text), &applied) != nil {
		return nil
	}
	var dropped []Extension
	for _, f := range []struct {
		field        Extension
		applied, set bool
	}{
		{ExtensionCancelReplacements, isGiven(applied.Spec.CancelReplacementsForInstance), c.hasKept()},
		{ExtensionDistributionConfig, applied.Spec.DistributionConfig != nil, c.Spec.DistributionConfig != nil},
		{ExtensionFailureDetectionCronJob, applied.Spec.AutomationOptions.Replacements.FailureDetectionCronJob != nil, c.detection() != nil},
	} {
		if f.applied && !f.set {
			dropped = append(dropped, f.field)
		}
	}
	return dropped
}

// isGiven reports whether a manifest has a list with an entry, or something else in place of one: the API server drops
// a field that it does not have whatever its value is.
func isGiven(list any) bool {
	items, isList := list.([]any)
	return isList && len(items) > 0 || !isList && list != nil
}

// UsedExtensions returns the fields which the operator does not have and which
// have an effect in this cluster, whether it is normalized or not.
func (c *FoundationDBCluster) UsedExtensions() []Extension {
	effective := *c             // replaces top-level fields only, so that c keeps its own
	effective.takeAnnotations() // what is invalid has no effect
	var used []Extension
	for _, f := range []struct {
		field  Extension
		effect bool
	}{
		{ExtensionCancelReplacements, effective.hasKept()},
		{ExtensionDistributionConfig, effective.Distribution().Enabled},
		{ExtensionFailureDetectionCronJob, effective.RunsFailureDetector()},
	} {
		if f.effect {
			used = append(used, f.field)
		}
	}
	return used
}

func (c *FoundationDBCluster) hasKept() bool { return len(c.Spec.CancelReplacementsForInstance) > 0 }

func (c *FoundationDBCluster) detection() *FailureDetectionCronJob {
	return c.Spec.AutomationOptions.Replacements.FailureDetectionCronJob
}

// takeAnnotations sets fields of the spec that are given as an annotation. It
// returns an error for each that is invalid, and for each that differs from its
// field. It replaces fields and changes none of their values.
func (c *FoundationDBCluster) takeAnnotations() field.ErrorList {
	errs := c.takeKept()
	errs = append(errs, takeJSON(c.Annotations, AnnotationDistributionConfig, distributionPath, &c.Spec.DistributionConfig)...)
	return append(errs, takeJSON(c.Annotations, AnnotationFailureDetectionCronJob, detectionPath,
		&c.Spec.AutomationOptions.Replacements.FailureDetectionCronJob)...)
}

func (c *FoundationDBCluster) takeKept() field.ErrorList {
	text, given := c.Annotations[AnnotationCancelReplacements]
	if !given {
		return nil
	}
	var ids []ProcessGroupID
	if strings.TrimSpace(text) != "" {
		for id := range strings.SplitSeq(text, ",") {
			ids = append(ids, ProcessGroupID(strings.TrimSpace(id)))
		}
	}
	if c.hasKept() && !slices.Equal(sortedIDs(ids), c.KeptProcessGroups()) {
		return field.ErrorList{contradiction(AnnotationCancelReplacements, text, keptPath)}
	}
	if !c.hasKept() {
		c.Spec.CancelReplacementsForInstance = ids
	}
	return nil
}

func takeJSON[T any](annotations map[string]string, name string, path *field.Path, into **T) field.ErrorList {
	text, given := annotations[name]
	if !given {
		return nil
	}
	value := new(T)
	strict, err := kjson.UnmarshalStrict([]byte(text), value)
	if err == nil && len(strict) > 0 {
		err = strict[0]
	}
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(annotationPath(name), text, fmt.Sprintf("must be the JSON of %s: %v", path, err))}
	case *into == nil:
		*into = value
	case !equality.Semantic.DeepEqual(*into, value):
		return field.ErrorList{contradiction(name, text, path)}
	}
	return nil
}

func contradiction(annotation, text string, path *field.Path) *field.Error {
	return field.Invalid(annotationPath(annotation), text, fmt.Sprintf("conflicts with %s: make them equal, or remove one", path))
}

func annotationPath(name string) *field.Path {
	return field.NewPath("metadata", "annotations").Key(name)
}
