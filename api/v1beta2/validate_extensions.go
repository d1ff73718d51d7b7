package v1beta2

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/cron"
)

// checkKept accepts process groups that are also in a list of those to remove:
// which of the lists holds back the other is decided for each process group, so
// that the others are still reconciled.
func (c *FoundationDBCluster) checkKept(*field.Path) field.ErrorList {
	ids := c.Spec.CancelReplacementsForInstance
	errs := checkIDs(keptPath, ids)
	if len(ids) > maxKeptProcessGroups {
		errs = append(errs, field.TooMany(keptPath, len(ids), maxKeptProcessGroups))
	}
	return errs
}

func (c *FoundationDBCluster) checkDistribution(spec *field.Path) field.ErrorList {
	desired := c.Distribution()
	domains := distributionPath.Child("desiredFaultDomains")
	errs := oneOf(distributionPath.Child("binPack"), desired.BinPack, BinPackAll, BinPackStateful, BinPackClass)
	if n := desired.DesiredFaultDomains; n < 0 || n > MaxProcessGroupNumber {
		errs = append(errs, field.Invalid(domains, n, fmt.Sprintf("must be from 0 to %d, the largest number of a process group", MaxProcessGroupNumber)))
	}
	if !desired.Enabled {
		return errs
	}
	if desired.DesiredFaultDomains == 0 {
		errs = append(errs, field.Required(domains, "must be at least 1 where distributionConfig.enabled is true"))
	}
	if key := c.FaultDomainKey(); key == FaultDomainKeyNone || key == FaultDomainKeyKubernetesCluster {
		errs = append(errs, field.Invalid(spec.Child("faultDomain", "key"), key,
			"must be a label of nodes where distributionConfig.enabled is true"))
	}
	return append(errs, c.checkDistributionLabel(spec)...)
}

// checkDistributionLabel rejects a label that would replace the distribution
// keys of the pods.
func (c *FoundationDBCluster) checkDistributionLabel(spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(path *field.Path, labels map[string]string) {
		if value, set := labels[LabelDistributionKey]; set {
			errs = append(errs, field.Invalid(path.Key(LabelDistributionKey), value,
				"must not be set where distributionConfig.enabled is true, which sets it for each pod"))
		}
	}
	for _, class := range slices.Sorted(maps.Keys(c.Spec.Processes)) {
		if template := c.Spec.Processes[class].PodTemplate; template != nil {
			check(spec.Child("processes").Key(string(class)).Child("podTemplate", "metadata", "labels"), template.Labels)
		}
	}
	check(spec.Child("labels", "matchLabels"), c.Spec.Labels.MatchLabels)
	check(spec.Child("labels", "resourceLabels"), c.Spec.Labels.ResourceLabels)
	if slices.Contains(slices.Concat(c.Spec.Labels.ProcessGroupIDLabels, c.Spec.Labels.ProcessClassLabels), LabelDistributionKey) {
		errs = append(errs, field.Invalid(spec.Child("labels"), LabelDistributionKey, "must not be the label of IDs or classes where distributionConfig.enabled is true"))
	}
	return errs
}

func (c *FoundationDBCluster) checkFailureDetection(*field.Path) field.ErrorList {
	job := ptr.Deref(c.detection(), FailureDetectionCronJob{})
	var errs field.ErrorList
	if job.Schedule != nil {
		errs = append(errs, checkSchedule(detectionPath.Child("schedule"), *job.Schedule)...)
	}
	if image := job.Image; image != nil && (*image == "" || strings.ContainsFunc(*image, unicode.IsSpace)) {
		errs = append(errs, field.Invalid(detectionPath.Child("image"), *image, "must be the name of an image"))
	}
	if job.Template == nil {
		return errs
	}
	errs = append(errs, c.checkDetectorPods(job.Template.JobTemplate.Spec.Template.Labels)...)
	if job.Template.Schedule == "" {
		return errs
	}
	path := detectionPath.Child("template", "schedule")
	if job.Schedule != nil && *job.Schedule != job.Template.Schedule {
		errs = append(errs, field.Invalid(path, job.Template.Schedule,
			fmt.Sprintf("conflicts with %s %q: remove one", detectionPath.Child("schedule"), *job.Schedule)))
	}
	return append(errs, checkSchedule(path, job.Template.Schedule)...)
}

// checkDetectorPods rejects labels by which pods of the failure detector would be
// selected as pods of the cluster.
func (c *FoundationDBCluster) checkDetectorPods(carried map[string]string) field.ErrorList {
	if !labels.SelectorFromSet(c.MatchLabels()).Matches(labels.Set(carried)) {
		return nil
	}
	path := detectionPath.Child("template", "jobTemplate", "spec", "template", "metadata", "labels")
	return field.ErrorList{field.Invalid(path, labels.FormatLabels(carried),
		fmt.Sprintf("must not be selected by %s, as the pods of the database are", labels.FormatLabels(c.MatchLabels())))}
}

func checkSchedule(path *field.Path, schedule string) field.ErrorList {
	if err := cron.Check(schedule); err != nil {
		return field.ErrorList{field.Invalid(path, schedule, err.Error())}
	}
	return nil
}
