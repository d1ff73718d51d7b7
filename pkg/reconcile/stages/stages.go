// Package stages holds the steps of a reconcile pass, one file each. A stage
// decides what should be done and says why; it never acts, and it looks at
// nothing but the facets of the snapshot that it declares.
package stages

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Options are choices about a pass that no field of the spec makes.
type Options struct {
	// ReplaceOnSecurityContextChange also replaces process groups whose pods were made
	// with another file group, user or group. Without it such pods are made anew, and
	// keep their volumes. Default false.
	ReplaceOnSecurityContextChange bool
	// Adopt takes pods and volume claims over as they are, before anything is replaced
	// or made anew because of them. Default false.
	Adopt bool
}

// Cluster lists the stages of a cluster pass with the default options.
func Cluster() []plan.Stage { return ClusterWith(Options{}) }

// ClusterWith lists the stages of a cluster pass in the order they run. The order
// matters: each stage may rely on what the earlier ones have recorded.
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

// podDelay is the shortest useful wait for a pod to be scheduled, started, or to
// load a file. The operator waits 15 s; people wait in front of this tool.
const podDelay = 5 * time.Second

// Replacing lists the stages that see replacements through and nothing else: what the
// first ones decide, new groups, the exclusion and removal of those that are marked.
// Whatever else the spec asks for waits for a whole pass.
func Replacing(first ...plan.Stage) []plan.Stage { return replacing(first) }

// Draining lists the stages that empty nodes. What has a volume is excluded, and coordinators
// move, before pods without a volume are evicted: the recovery that an eviction causes would
// make exclusion and coordinators wait again.
func Draining(nodes []string, most int) []plan.Stage {
	return replacing([]plan.Stage{CordonNodes(nodes, nil), ReplaceOn(nodes, most, false)}, EvictFrom(nodes))
}

// replacing are the stages of replacements, with some at the start and some once exclusions
// have had their turn.
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

// Marking lists the stages that only have the first ones decide, on a record that is up
// to date.
func Marking(first ...plan.Stage) []plan.Stage { return append([]plan.Stage{updateStatus}, first...) }

// Keeping lists the stages that take marks back, and what was announced of them to other
// instances right after.
func Keeping(groups []v1beta2.ProcessGroupID) []plan.Stage {
	return append(Marking(KeepGroups(groups)), updateStatus)
}

// ReplaceFailed is the stage that replaces what failed, or was on a tainted node, for too
// long.
func ReplaceFailed() plan.Stage { return replaceFailedPods }

// Excluding lists the stages that have process groups excluded which may stay: what was
// observed is recorded first, since budgets count by it, and coordinators move before their
// processes are excluded.
func Excluding(groups []v1beta2.ProcessGroupID) []plan.Stage {
	return []plan.Stage{updateStatus, moveCoordinatorsOff(groups), ExcludeGroups(groups), updateStatus}
}

// Including lists the stages that end exclusions, and record what was observed before and
// after.
func Including(i Inclusion) []plan.Stage {
	return []plan.Stage{updateStatus, IncludeTargets(i), updateStatus}
}
