package v1beta2

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Validate returns an error unless the spec of the cluster is valid. The
// error has a line per invalid field, with its value and the fix.
//
// It checks what the CRD cannot, and what is invalid in a file that no API
// server has validated.
func (c *FoundationDBCluster) Validate() error {
	spec := field.NewPath("spec")
	effective := *c // replaces top-level fields only, so that c keeps its own
	errs := effective.takeAnnotations()
	for _, check := range []func(*field.Path) field.ErrorList{
		c.checkVersion, c.checkDatabase, c.checkProcesses, c.checkCoordinatorSelection, c.checkRouting,
		c.checkAutomation, c.checkFaultDomain, c.checkIDs, c.checkNames, c.checkTexts, c.checkConnectionStrings,
		c.checkDenyList, effective.checkKept, effective.checkDistribution, effective.checkFailureDetection,
	} {
		errs = append(errs, check(spec)...)
	}
	return join(errs)
}

// join returns one error for all, nil for none.
func join(list field.ErrorList) error {
	errs := make([]error, len(list))
	for i, err := range list {
		errs[i] = err
	}
	return errors.Join(errs...)
}

func (c *FoundationDBCluster) checkVersion(spec *field.Path) field.ErrorList {
	errs := checkSupported(spec.Child("version"), c.Spec.Version)
	return append(errs, oneOf(spec.Child("imageType"), c.ImageType(), ImageTypeSplit, ImageTypeUnified)...)
}

func checkSupported(path *field.Path, text string) field.ErrorList {
	v, err := fdb.ParseExactVersion(text)
	if err != nil {
		return field.ErrorList{field.Invalid(path, text, "must be a version X.Y.Z without anything before or after it")}
	}
	if !v.Supported() {
		return field.ErrorList{field.Invalid(path, text, fmt.Sprintf("must be at least %s", fdb.MinimumVersion))}
	}
	return nil
}

// oneOf accepts the given values; the empty string only if it is one of them.
func oneOf[T ~string](path *field.Path, value T, values ...T) field.ErrorList {
	if slices.Contains(values, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, values)}
}

// named returns the names as values of a string type.
func named[T ~string](names []string) []T {
	values := make([]T, len(names))
	for i, name := range names {
		values[i] = T(name)
	}
	return values
}

func (c *FoundationDBCluster) checkCoordinatorSelection(spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, selection := range c.Spec.CoordinatorSelection {
		if !selection.ProcessClass.IsStateful() {
			path := spec.Child("coordinatorSelection").Index(i).Child("processClass")
			errs = append(errs, field.Invalid(path, selection.ProcessClass,
				"must be a class with a volume: storage, log, transaction or coordinator"))
		}
	}
	return errs
}

func (c *FoundationDBCluster) checkRouting(spec *field.Path) field.ErrorList {
	routing := spec.Child("routing")
	errs := oneOf(routing.Child("publicIPSource"), c.PublicIPSource(), PublicIPSourcePod, PublicIPSourceService)
	if family := c.PodIPFamily(); family != 0 && family != 4 && family != 6 {
		errs = append(errs, field.Invalid(routing.Child("podIPFamily"), family, "must be 4 or 6, or left out"))
	}
	return errs
}

func (c *FoundationDBCluster) checkAutomation(spec *field.Path) field.ErrorList {
	options, path := c.Spec.AutomationOptions, spec.Child("automationOptions")
	modes := []PodUpdateMode{PodUpdateModeAll, PodUpdateModeZone, PodUpdateModeProcessGroup, PodUpdateModeNone}
	errs := oneOf(path.Child("databaseInteractionMode"), c.DatabaseInteractionMode(),
		DatabaseInteractionModeFdbcli, DatabaseInteractionModeManagementAPI)
	errs = append(errs, oneOf(path.Child("deletionMode"), c.DeletionMode(), modes...)...)
	errs = append(errs, oneOf(path.Child("removalMode"), c.RemovalMode(), modes...)...)
	errs = append(errs, oneOf(path.Child("podUpdateStrategy"), c.PodUpdateStrategy(),
		PodUpdateStrategyReplace, PodUpdateStrategyReplaceTransactionSystem, PodUpdateStrategyDelete)...)
	if mode := options.SynchronizationMode; mode != nil {
		errs = append(errs, oneOf(path.Child("synchronizationMode"), *mode, SynchronizationModeLocal, SynchronizationModeGlobal)...)
	}
	errs = append(errs, notNegative(path.Child("maxConcurrentReplacements"), c.MaxConcurrentMisconfigurationReplacements())...)
	replacements := path.Child("replacements")
	errs = append(errs, notNegative(replacements.Child("maxConcurrentReplacements"), c.MaxConcurrentAutomaticReplacements())...)
	if _, err := c.MaxFaultDomainsWithTaintedProcessGroups(1); err != nil {
		share := options.Replacements.MaxFaultDomainsWithTaintedProcessGroups
		errs = append(errs, field.Invalid(replacements.Child("maxFaultDomainsWithTaintedProcessGroups"), share.String(),
			"must be a number or a percentage such as 10%"))
	}
	return errs
}

func notNegative(path *field.Path, n int) field.ErrorList {
	if n < 0 {
		return field.ErrorList{field.Invalid(path, n, "must not be negative; 0 allows none")}
	}
	return nil
}

func (c *FoundationDBCluster) checkFaultDomain(spec *field.Path) field.ErrorList {
	domain, path := c.Spec.FaultDomain, spec.Child("faultDomain")
	if domain.Key == FaultDomainKeyKubernetesCluster && domain.Value == "" {
		return field.ErrorList{field.Required(path.Child("value"),
			"must be the zone of this Kubernetes cluster, different from the others")}
	}
	return nil
}

// checkTexts checks strings that become arguments and files of the pods.
func (c *FoundationDBCluster) checkTexts(spec *field.Path) field.ErrorList {
	domain := spec.Child("faultDomain")
	var errs field.ErrorList
	errs = append(errs, oneLine(spec.Child("dataCenter"), c.Spec.DataCenter)...)
	errs = append(errs, oneLine(spec.Child("dataHall"), c.Spec.DataHall)...)
	errs = append(errs, oneLine(spec.Child("logGroup"), c.Spec.LogGroup)...)
	errs = append(errs, oneLine(domain.Child("value"), c.Spec.FaultDomain.Value)...)
	errs = append(errs, oneLine(domain.Child("valueFrom"), c.Spec.FaultDomain.ValueFrom)...)
	return append(errs, oneLine(spec.Child("mainContainer", "peerVerificationRules"), c.Spec.MainContainer.PeerVerificationRules)...)
}

func oneLine(path *field.Path, text string) field.ErrorList {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return field.ErrorList{field.Invalid(path, text, "must not have line breaks or other control characters")}
	}
	return nil
}

var (
	connectionStringPattern = regexp.MustCompile(`^\w+:[a-zA-Z0-9]+@[^,\s]+(,[^,\s]+)*$`)
	descriptionPattern      = regexp.MustCompile(`^\w*$`)
	generationIDPattern     = regexp.MustCompile(`^[a-zA-Z0-9]*$`)
)

func (c *FoundationDBCluster) checkConnectionStrings(spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	if seed := c.Spec.SeedConnectionString; seed != "" && !connectionStringPattern.MatchString(seed) {
		errs = append(errs, field.Invalid(spec.Child("seedConnectionString"), seed,
			"must be the content of a cluster file: description:id@host:port,host:port"))
	}
	partial, path := c.Spec.PartialConnectionString, spec.Child("partialConnectionString")
	if !descriptionPattern.MatchString(partial.DatabaseName) {
		errs = append(errs, field.Invalid(path.Child("databaseName"), partial.DatabaseName, "must be letters, digits and underscores"))
	}
	if !generationIDPattern.MatchString(partial.GenerationID) {
		errs = append(errs, field.Invalid(path.Child("generationID"), partial.GenerationID, "must be letters and digits"))
	}
	return errs
}

// checkDenyList rejects lists that cannot be applied.
func (c *FoundationDBCluster) checkDenyList(spec *field.Path) field.ErrorList {
	path := spec.Child("lockOptions", "denyList")
	var errs field.ErrorList
	allowed := map[string]bool{}
	for i, entry := range c.Spec.LockOptions.DenyList {
		id := path.Index(i).Child("id")
		before, listed := allowed[entry.ID]
		switch {
		case entry.ID == "":
			errs = append(errs, field.Required(id, "must be a process group ID prefix"))
		case listed && before != entry.Allow:
			errs = append(errs, field.Invalid(id, entry.ID, "is both denied and allowed: keep one entry"))
		}
		allowed[entry.ID] = entry.Allow
	}
	return errs
}
