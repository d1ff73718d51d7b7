package v1beta2

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// The bounds of custom parameters. Source: the CRD.
const (
	maxCustomParameters      = 100
	maxCustomParameterLength = 100
)

// monitorParameters are settings of fdbmonitor. As a parameter of a process
// they would have no such effect.
var monitorParameters = []string{
	"cluster-file", "delete-envvars", "kill-on-configuration-change", "disable-lifecycle-logging", "restart-delay",
	"initial-restart-delay", "restart-backoff", "restart-delay-reset-interval", "user", "group",
}

func (c *FoundationDBCluster) checkProcesses(spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, class := range slices.Sorted(maps.Keys(c.Spec.Processes)) {
		settings, path := c.Spec.Processes[class], spec.Child("processes").Key(string(class))
		if class != ProcessClassGeneral && !class.IsKnown() {
			errs = append(errs, field.NotSupported(path, class, append(ProcessClasses(), ProcessClassGeneral)))
		}
		errs = append(errs, settings.CustomParameters.check(path.Child("customParameters"), "datadir")...)
		errs = append(errs, settings.CustomParameters.checkServerOptions(path.Child("customParameters"))...)
		errs = append(errs, settings.checkImages(path.Child("podTemplate", "spec"))...)
	}
	return errs
}

func (s ProcessSettings) checkImages(path *field.Path) field.ErrorList {
	if s.PodTemplate == nil {
		return nil
	}
	var errs field.ErrorList
	for i, container := range s.PodTemplate.Spec.Containers {
		if (container.Name == ContainerMain || container.Name == ContainerSidecar) && hasTag(container.Image) {
			errs = append(errs, field.Invalid(path.Child("containers").Index(i).Child("image"), container.Image, taggedImageError{container}.Error()))
		}
	}
	for i, container := range s.PodTemplate.Spec.InitContainers {
		if container.Name == ContainerInit && hasTag(container.Image) {
			errs = append(errs, field.Invalid(path.Child("initContainers").Index(i).Child("image"), container.Image, taggedImageError{container}.Error()))
		}
	}
	return errs
}

// check rejects parameters that are set elsewhere, and values that are not
// parameters. fdbserver treats dashes and underscores the same.
func (p FoundationDBCustomParameters) check(path *field.Path, reserved ...string) field.ErrorList {
	var errs field.ErrorList
	if len(p) > maxCustomParameters {
		errs = append(errs, field.TooMany(path, len(p), maxCustomParameters))
	}
	reserved = append(slices.Clone(monitorParameters), reserved...)
	seen := map[string]bool{}
	for i, parameter := range p {
		name, wrong := parameter.flaw()
		switch {
		case wrong != "":
			errs = append(errs, field.Invalid(path.Index(i), string(parameter), wrong))
		case seen[name]:
			errs = append(errs, field.Duplicate(path.Index(i), string(parameter)))
		case slices.Contains(reserved, name):
			errs = append(errs, field.Forbidden(path.Index(i), fmt.Sprintf("%s is set elsewhere: remove the parameter", name)))
		}
		seen[name] = true
	}
	return errs
}

// checkServerOptions rejects names and values that fdbserver does not know. It ends at its start with one, and so would
// all processes, which restart at once for a changed parameter. What a value from a variable is, its pod decides.
func (p FoundationDBCustomParameters) checkServerOptions(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, parameter := range p {
		name, wrong := parameter.flaw()
		if wrong != "" || slices.Contains(monitorParameters, name) {
			continue // check reports that
		}
		_, value, _ := strings.Cut(string(parameter), "=")
		value = strings.TrimSpace(value)
		typed := strings.ReplaceAll(name, "-", "_")
		needs := fdb.ServerOptionNeeds(name, value)
		switch {
		case !fdb.IsServerOption(name):
			errs = append(errs, field.Invalid(path.Index(i), string(parameter), fmt.Sprintf(
				"must be knob_NAME, or an option of fdbserver that takes a value: no process starts with %s%s",
				typed, phrase.OrMeant(typed, fdb.ServerOptionsFor(typed)))))
		case needs != "" && !strings.HasPrefix(value, "$"):
			errs = append(errs, field.Invalid(path.Index(i), string(parameter), fmt.Sprintf("%s %s: no process starts with %s", typed, needs, phrase.Or(value, "an empty one"))))
		}
	}
	return errs
}

// flaw returns the name of the parameter, with dashes, and why it is invalid.
func (p FoundationDBCustomParameter) flaw() (name, wrong string) {
	name, _, assigned := strings.Cut(string(p), "=")
	name = strings.ReplaceAll(strings.TrimSpace(name), "_", "-")
	switch {
	case len(p) > maxCustomParameterLength:
		wrong = fmt.Sprintf("must have at most %d characters", maxCustomParameterLength)
	case strings.ContainsFunc(string(p), unicode.IsControl):
		wrong = "must not have line breaks or other control characters"
	case !assigned || name == "":
		wrong = "must be name=value"
	case strings.HasPrefix(name, "-"):
		wrong = "must not start with dashes"
	}
	return name, wrong
}

// checkIDs checks lists of process groups. The pattern of the CRD accepts * in
// all of them, although it stands for all only where containers crash.
func (c *FoundationDBCluster) checkIDs(spec *field.Path) field.ErrorList {
	buggify := spec.Child("buggify")
	var errs field.ErrorList
	errs = append(errs, checkIDs(spec.Child("processGroupsToRemove"), c.Spec.ProcessGroupsToRemove)...)
	errs = append(errs, checkIDs(spec.Child("processGroupsToRemoveWithoutExclusion"), c.Spec.ProcessGroupsToRemoveWithoutExclusion)...)
	errs = append(errs, checkIDs(buggify.Child("noSchedule"), c.Spec.Buggify.NoSchedule)...)
	errs = append(errs, checkIDs(buggify.Child("ignoreDuringRestart"), c.Spec.Buggify.IgnoreDuringRestart)...)
	errs = append(errs, checkIDs(buggify.Child("blockRemoval"), c.Spec.Buggify.BlockRemoval)...)
	errs = append(errs, checkIDs(buggify.Child("crashLoop"), withoutWildcard(c.Spec.Buggify.CrashLoop))...)
	for i, object := range c.Spec.Buggify.CrashLoopContainers {
		path := buggify.Child("crashLoopContainers").Index(i)
		if object.ContainerName == "" {
			errs = append(errs, field.Required(path.Child("containerName"), "must be the container to crash"))
		}
		errs = append(errs, checkIDs(path.Child("targets"), withoutWildcard(object.Targets))...)
	}
	return errs
}

func withoutWildcard(ids []ProcessGroupID) []ProcessGroupID {
	return slices.DeleteFunc(slices.Clone(ids), func(id ProcessGroupID) bool { return id == AllProcessGroups })
}

func checkIDs(path *field.Path, ids []ProcessGroupID) field.ErrorList {
	var errs field.ErrorList
	for _, id := range ids {
		switch err := id.check(); {
		case id == AllProcessGroups:
			errs = append(errs, field.Invalid(path, id, "must not be *: list the process groups"))
		case err != nil:
			errs = append(errs, field.Invalid(path, id, err.Error()))
		}
	}
	return errs
}

// prefixPattern is stricter than the CRD's, which accepts dots. No process
// group ID can have a dot, so no status with one could be written.
var prefixPattern = regexp.MustCompile(`^[a-zA-Z0-9][\w-]*[a-zA-Z0-9]$`)

// maxLabelLength is the maximum length of host names, services and label
// values.
const maxLabelLength = 63

// checkNames checks that every desired process group can be named.
func (c *FoundationDBCluster) checkNames(spec *field.Path) field.ErrorList {
	path, prefix := spec.Child("processGroupIDPrefix"), c.Spec.ProcessGroupIDPrefix
	if prefix != "" && !prefixPattern.MatchString(prefix) {
		return field.ErrorList{field.Invalid(path, prefix,
			"must be two or more letters, digits, dashes and underscores, with a letter or digit first and last")}
	}
	for _, class := range slices.Sorted(maps.Keys(c.DesiredProcessCounts())) {
		group := ProcessGroupStatus{ProcessGroupID: c.ProcessGroupIDFor(class, MaxProcessGroupNumber), ProcessClass: class}
		if err := group.ProcessGroupID.check(); err != nil {
			return field.ErrorList{field.Invalid(path, prefix, fmt.Sprintf("is too long for class %s: %v", class, err))}
		}
		if name := group.PodName(c); (c.NeedsHeadlessService() || c.PublicIPFromService()) && len(name) > maxLabelLength {
			return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), c.Name, fmt.Sprintf(
				"is too long: pods such as %s must have at most %d characters to have a DNS name", name, maxLabelLength))}
		}
	}
	return nil
}
