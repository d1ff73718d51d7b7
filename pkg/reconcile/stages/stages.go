// Package stages holds the stages of a reconcile pass, one file each. A stage decides what to do
// and why; it never acts, and it reads only the facets of the snapshot that it declares.
package stages

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Options are settings of a pass that no field of the spec has.
type Options struct {
	// ReplaceOnSecurityContextChange also replaces process groups whose pods were created with
	// another file group, user or group. Without it such pods are recreated, and keep their
	// volumes. Default false.
	ReplaceOnSecurityContextChange bool
	// Adopt adopts pods and PVCs as they are, before anything is replaced or recreated because
	// of them. Default false.
	Adopt bool
}

// Cluster returns the stages of a cluster pass with the default options.
func Cluster() []plan.Stage { return ClusterWith(Options{}) }

// ClusterWith returns the stages of a cluster pass in the order they run. The order matters: each
// stage may rely on what the earlier ones have recorded.
func ClusterWith(o Options) []plan.Stage {
	all := []plan.Stage{
		updateStatus,
		updateLockConfiguration,
		updateConfigMap,
		adoptSpecs,
		checkClientCompatibility,
		replaceMisconfiguredPods(o),
		replaceFailedPods,
		deletePodsForBuggification,
		deleteTerminalPods,
		addProcessGroups,
		addServices,
		addPVCs,
		addPods,
		generateInitialClusterFile,
		removeIncompatibleProcesses,
		updateSidecarVersions,
		updatePodConfig,
		updateLabels,
		updateDatabaseConfiguration,
		chooseRemovals,
		excludeInstances,
		changeCoordinators,
		bounceProcesses,
		maintenanceModeChecker,
		updatePods(o),
		removeServices,
		removePods,
		reportStatus,
	}
	return slices.DeleteFunc(all, func(s plan.Stage) bool { return s.Name == adoptSpecs.Name && !o.Adopt })
}

// podDelay is the shortest useful wait for a pod to be scheduled, started, or to load a file. The
// operator waits 15 s; this tool has a user who waits for it.
const podDelay = 5 * time.Second

// requestedByUser is the reason of actions that a command requests directly.
const requestedByUser = "requested by a user"

// Replacing returns the stages that complete replacements and nothing else: the first ones, new
// groups, the exclusion and removal of marked groups. Any other change of the spec waits for a
// whole pass.
func Replacing(first ...plan.Stage) []plan.Stage { return replacing(first) }

// Draining returns the stages that drain nodes. Groups with a volume are excluded, and coordinators
// move, before pods without a volume are evicted: the recovery that an eviction causes would
// delay exclusion and coordinators again.
func Draining(nodes []string, most int) []plan.Stage {
	return replacing([]plan.Stage{CordonNodes(nodes, nil), ReplaceOn(nodes, most, false)}, EvictFrom(nodes))
}

// replacing returns the stages of replacements, with some at the start and some after the
// exclusions.
func replacing(first []plan.Stage, excluded ...plan.Stage) []plan.Stage {
	return slices.Concat(Marking(first...),
		[]plan.Stage{
			updateConfigMap, addProcessGroups, addServices, addPVCs, addPods, updatePodConfig, updateLabels,
			excludeInstances, changeCoordinators,
		},
		excluded,
		[]plan.Stage{removeServices, removePods, updateStatus},
	)
}

// Marking returns only the given stages, on an updated status.
func Marking(first ...plan.Stage) []plan.Stage { return append([]plan.Stage{updateStatus}, first...) }

// Keeping returns the stages that revert marks, and withdraw the announcements to other
// control-plane instances right after.
func Keeping(groups []v1beta2.ProcessGroupID) []plan.Stage {
	return append(Marking(KeepGroups(groups)), updateStatus)
}

// ReplaceFailed returns the stage that replaces groups that failed, or were on a tainted node, for
// too long.
func ReplaceFailed() plan.Stage { return replaceFailedPods }

// Excluding returns the stages that exclude process groups that may stay: the status is updated
// first, since budgets count by it, and coordinators move before their processes are excluded.
func Excluding(groups []v1beta2.ProcessGroupID) []plan.Stage {
	return []plan.Stage{updateStatus, moveCoordinatorsOff(groups), ExcludeGroups(groups), updateStatus}
}

// Including returns the stages that end exclusions, and update the status before and after.
func Including(i Inclusion) []plan.Stage {
	return []plan.Stage{updateStatus, IncludeTargets(i), updateStatus}
}
