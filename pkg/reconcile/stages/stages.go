// Package stages lists the stages of a reconcile pass, and of the passes of other commands, in order. The
// stages themselves are in the packages below it, one file each. A stage decides what to do and why; it never
// acts, and it reads only the facets of the snapshot that it declares.
package stages

import (
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/cluster"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/detection"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/evictions"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/operations"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/replacements"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/status"
)

// Cluster returns the stages of a cluster pass with the default options.
func Cluster() []plan.Stage { return ClusterWith(plan.Options{}) }

// ClusterWith returns the stages of a cluster pass in the order they run. The order matters: each
// stage may rely on what the earlier ones have recorded.
func ClusterWith(o plan.Options) []plan.Stage {
	all := []plan.Stage{
		status.UpdateStatus,
		cluster.CheckDeletion,
		cluster.CheckFields(),
		cluster.UpdateLockConfiguration,
		replacements.CancelReplacements(o),
		cluster.CheckDistribution,
		cluster.UpdateConfigMap,
		detection.FailureDetector,
		cluster.AdoptSpecs,
		cluster.CheckClientCompatibility,
		replacements.ReplaceMisconfiguredPods(o),
		replacements.ReplaceFailedPods,
		cluster.DeletePodsForBuggification,
		cluster.DeleteTerminalPods,
		cluster.AddProcessGroups,
		evictions.UpdateDisruptionBudget, // before there are more pods than it counts
		cluster.AddServices,
		cluster.AddPVCs,
		cluster.AddPods,
		cluster.GenerateInitialClusterFile,
		cluster.RemoveIncompatibleProcesses,
		cluster.UpdateSidecarVersions,
		cluster.UpdatePodConfig,
		cluster.UpdateLabels,
		evictions.UpdateTolerations,
		cluster.UpdateDatabaseConfiguration,
		replacements.ChooseRemovals,
		cluster.ExcludeInstances,
		cluster.ChangeCoordinators,
		cluster.BounceProcesses,
		cluster.MaintenanceModeChecker,
		cluster.UpdatePods(o),
		cluster.RemoveServices,
		cluster.RemovePods,
		evictions.UpdateDisruptionBudget, // after there are fewer
		status.ReportStatus,
	}
	return slices.DeleteFunc(all, func(s plan.Stage) bool { return s.Name == cluster.AdoptSpecs.Name && !o.Adopt })
}

// Restricted returns stages that begin with a check of the pod templates; the same stages without restrictions,
// and those that do the same whatever the spec has.
func Restricted(r objects.TemplateRestrictions, all []plan.Stage) []plan.Stage {
	if r.None() || !plan.NeedsSpec(all) {
		return all
	}
	return slices.Insert(slices.Clone(all), 0, cluster.CheckTemplates(r))
}

// Replacing returns the stages that complete replacements and nothing else: the first ones, new
// groups, the exclusion and removal of marked groups. Any other change of the spec waits for a
// whole pass.
func Replacing(first ...plan.Stage) []plan.Stage { return replacing(first) }

// Draining returns the stages that drain nodes. Groups with a volume are excluded, and coordinators
// move, before pods without a volume are evicted: the recovery that an eviction causes would
// delay exclusion and coordinators again.
func Draining(nodes []string, most int) []plan.Stage {
	return replacing([]plan.Stage{operations.CordonNodes(nodes, nil), operations.ReplaceOn(nodes, most)}, operations.EvictFrom(nodes), operations.EvictAgents(nodes))
}

// replacing returns the stages of replacements, with some at the start and some after the
// exclusions.
func replacing(first []plan.Stage, excluded ...plan.Stage) []plan.Stage {
	return slices.Concat(MarkingForRemoval(first...),
		[]plan.Stage{
			cluster.UpdateConfigMap, cluster.AddProcessGroups, evictions.UpdateDisruptionBudget, cluster.AddServices, cluster.AddPVCs, cluster.AddPods, cluster.UpdatePodConfig, cluster.UpdateLabels, evictions.UpdateTolerations,
			cluster.ExcludeInstances, cluster.ChangeCoordinators,
		},
		excluded,
		[]plan.Stage{cluster.RemoveServices, cluster.RemovePods, status.UpdateStatus, evictions.UpdateDisruptionBudget},
	)
}

// Marking returns only the given stages, on an updated status.
func Marking(first ...plan.Stage) []plan.Stage {
	return append([]plan.Stage{status.UpdateStatus}, first...)
}

// MarkingForRemoval returns the same for stages that mark process groups for removal: none of them
// runs where the API server dropped the list of those that stay, nor where no replacement may be
// packed as the spec packs it.
func MarkingForRemoval(first ...plan.Stage) []plan.Stage {
	return Marking(append([]plan.Stage{cluster.CheckFields(v1beta2.ExtensionCancelReplacements), cluster.CheckDistribution}, first...)...)
}

// Keeping returns the stages that revert marks, and withdraw the announcements to other
// control-plane instances right after.
func Keeping(groups []v1beta2.ProcessGroupID) []plan.Stage {
	return append(Marking(operations.KeepGroups(groups)), status.UpdateStatus)
}

// KeepingExcluded returns the same for process groups that may be excluded: their exclusions end
// first.
func KeepingExcluded(groups []v1beta2.ProcessGroupID) []plan.Stage {
	return append(Marking(operations.KeepAndInclude(groups)), status.UpdateStatus)
}

// Detecting returns the stages of the failure detector: the status gets the conditions, whose times
// begin, and the failures are recorded.
func Detecting() []plan.Stage { return Marking(detection.DetectFailures) }

// DetectingBesideOperator returns the same without a write of the status, which belongs to the
// operator.
func DetectingBesideOperator() []plan.Stage { return []plan.Stage{detection.DetectFailures} }

// ReplaceFailed returns the stage that replaces groups that failed, or were on a tainted node, for
// too long.
func ReplaceFailed() plan.Stage { return replacements.ReplaceFailedPods }

// Excluding returns the stages that exclude process groups that may stay: the status is updated
// first, since budgets count by it, and coordinators move before their processes are excluded.
func Excluding(groups []v1beta2.ProcessGroupID) []plan.Stage {
	return []plan.Stage{status.UpdateStatus, operations.MoveCoordinatorsOff(groups), operations.ExcludeGroups(groups), status.UpdateStatus}
}

// Including returns the stages that end exclusions, and update the status before and after.
func Including(i operations.Inclusion) []plan.Stage {
	return []plan.Stage{status.UpdateStatus, operations.IncludeTargets(i), status.UpdateStatus}
}
