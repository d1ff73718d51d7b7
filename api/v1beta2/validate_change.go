package v1beta2

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateRegions returns an error for regions that contradict each other, which a pass
// must not begin to configure. Validate accepts them, so that a cluster which has them can
// still be read; so does ValidateRegions if they are already configured or not configured
// by this resource.
func (c *FoundationDBCluster) ValidateRegions() error {
	d := c.Spec.DatabaseConfiguration
	if !c.ConfigureDatabase() || (c.Status.Configured && d.sameRegions(c.Status.DatabaseConfiguration)) {
		return nil
	}
	return join(d.checkPriorities(field.NewPath("spec", "databaseConfiguration")))
}

// maxRegions is the maximum number of regions of FoundationDB.
const maxRegions = 2

func (d DatabaseConfiguration) checkPriorities(path *field.Path) field.ErrorList {
	regions, serving := path.Child("regions"), d.servingDataCenters()
	switch {
	case len(d.Regions) == 0:
		return nil
	case len(d.Regions) > maxRegions:
		return field.ErrorList{field.TooMany(regions, len(d.Regions), maxRegions)}
	case len(serving) == 0:
		return field.ErrorList{field.Required(regions, "requires a region with a priority of 0 or more: without one no region may serve")}
	case len(serving) > 1 && d.UsableRegions <= 1:
		return field.ErrorList{field.Invalid(path.Child("usable_regions"), d.UsableRegions, fmt.Sprintf(
			"must be %d while data centers %s have priorities of 0 or more, otherwise one of them could become primary without a copy of the data: make both usable, or give one a negative priority",
			len(serving), strings.Join(serving, " and ")))}
	}
	return nil
}

// servingDataCenters are the main data centers that may become primary.
func (d DatabaseConfiguration) servingDataCenters() []string {
	var serving []string
	for _, region := range d.Regions {
		for _, dc := range region.Datacenters {
			if dc.Satellite == 0 && dc.Priority >= 0 {
				serving = append(serving, dc.ID)
			}
		}
	}
	return serving
}

// sameRegions compares regions in any order.
func (d DatabaseConfiguration) sameRegions(other DatabaseConfiguration) bool {
	return max(d.UsableRegions, 1) == max(other.UsableRegions, 1) && reflect.DeepEqual(sortedRegions(d.Regions), sortedRegions(other.Regions))
}

func sortedRegions(regions []Region) []Region {
	sorted := make([]Region, len(regions))
	for i, region := range regions {
		region.Datacenters = slices.SortedFunc(slices.Values(region.Datacenters), compareDataCenters)
		sorted[i] = region
	}
	slices.SortFunc(sorted, func(a, b Region) int { return slices.CompareFunc(a.Datacenters, b.Datacenters, compareDataCenters) })
	return sorted
}

func compareDataCenters(a, b DataCenter) int {
	if a.Satellite != b.Satellite {
		return a.Satellite - b.Satellite
	}
	return strings.Compare(a.ID, b.ID)
}

// ValidateKnobs returns an error for custom parameters that suppress trace events,
// which a pass must not roll out. Validate accepts them, so that a cluster which has them
// can still be read.
func (c *FoundationDBCluster) ValidateKnobs() error { return join(c.TraceSuppressingParameters()) }

// TraceSuppressingParameters returns an error per custom parameter of the spec that suppresses the
// trace events which the status document is made from.
func (c *FoundationDBCluster) TraceSuppressingParameters() field.ErrorList {
	var errs field.ErrorList
	for class, settings := range c.Spec.Processes {
		path := field.NewPath("spec", "processes").Key(string(class)).Child("customParameters")
		for i, parameter := range settings.CustomParameters {
			if SuppressesTraceEvents(string(parameter)) {
				errs = append(errs, field.Invalid(path.Index(i), string(parameter), fmt.Sprintf(
					"must be at most %d: the status document is made from trace events of that severity, and would report neither the recovery state nor the localities of processes; remove the parameter", statusSeverity)))
			}
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

// statusSeverity is the severity of the trace events that FoundationDB makes its status
// document from. Measured on 7.3.79: with a higher minimum the database is reported
// unavailable forever.
const statusSeverity = 10

// severityKnob is the parameter that sets the lowest severity of trace events, with dashes.
const severityKnob = "knob-min-trace-severity"

// SuppressesTraceEvents reports whether an argument of fdbserver, name=value with or without leading
// dashes, suppresses the trace events that the status document is made from. A value that is
// not a number counts as one that does.
func SuppressesTraceEvents(argument string) bool {
	name, value, assigned := strings.Cut(argument, "=")
	name = strings.ToLower(strings.ReplaceAll(strings.TrimLeft(strings.TrimSpace(name), "-"), "_", "-"))
	if !assigned || name != severityKnob {
		return false
	}
	severity, err := strconv.ParseInt(strings.TrimSpace(value), 0, 64)
	return err != nil || severity > statusSeverity
}
